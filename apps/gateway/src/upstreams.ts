import { Pool } from 'undici';
import { type UpstreamName, upstreamNames } from './routes';

const connectTimeoutMs = 3_000;
/**
 * Must be below the time after which a service closes an idle connection: 65 s in operation, SHUTDOWN_DRAIN_MS (5 s in
 * the manifests) at shutdown. Otherwise a request could be sent on a connection that is being closed.
 */
const idleTimeoutMs = 4_000;
const connectionsPerUpstream = 512;

export interface Upstream {
  pool: Pool;
  /** Maximum time for a request and its answer. */
  deadlineMs: number;
}
export type Upstreams = Partial<Record<UpstreamName, Upstream>>;

/** One connection pool for each upstream that has an address. A connection is opened when a request needs it. */
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
    connections: connectionsPerUpstream,
    pipelining: 1,
    connect: { timeout: connectTimeoutMs },
    keepAliveTimeout: idleTimeoutMs,
    keepAliveMaxTimeout: idleTimeoutMs,
  });
