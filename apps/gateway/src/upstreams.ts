import { Pool } from 'undici';
import { type UpstreamName, upstreamNames } from './routes';

const connectTimeoutMs = 3_000;
/**
 * Kept-alive connections are given up before the services do so: 65 s while they run, and SHUTDOWN_DRAIN_MS (5 s in the
 * manifests) when they leave. So none is used while it is being closed.
 */
const idleTimeoutMs = 4_000;
const connectionsEach = 512;

export interface Upstream {
  pool: Pool;
  /** Milliseconds for a whole exchange. */
  deadlineMs: number;
}
export type Upstreams = Partial<Record<UpstreamName, Upstream>>;

/** One pool of connections for each upstream that has an address. Nothing is dialled before it is needed. */
export function createUpstreams(addresses: Record<UpstreamName, { url: string | undefined; deadlineMs: number }>): {
  upstreams: Upstreams;
  close: () => Promise<void>;
} {
  const upstreams: Upstreams = {};
  for (const name of upstreamNames) {
    const { url, deadlineMs } = addresses[name];
    if (url !== undefined) upstreams[name] = { pool: createPool(url), deadlineMs };
  }
  return {
    upstreams,
    async close() {
      await Promise.all(Object.values(upstreams).map(({ pool }) => pool.close()));
    },
  };
}

const createPool = (url: string) =>
  new Pool(url, {
    connections: connectionsEach,
    pipelining: 1,
    connect: { timeout: connectTimeoutMs },
    keepAliveTimeout: idleTimeoutMs,
    keepAliveMaxTimeout: idleTimeoutMs,
  });
