import { type Slots, createSlots } from '@parley/outbound';
import { Pool } from 'undici';
import { type UpstreamName, upstreamNames } from './routes';

const connectTimeoutMs = 3_000;
/**
 * Must be below the time after which a service closes an idle connection: 65 s in operation,
 * SHUTDOWN_DRAIN_MS (5 s in the manifests) at shutdown. Otherwise a request could be sent on a
 * connection that is being closed.
 */
const idleTimeoutMs = 4_000;
const connectionsPerUpstream = 512;

export interface Upstream {
  pool: Pool;
  /** The connections of `pool`. Each caller has a share of them. */
  slots: Slots;
  /** Without a limit of connections, because a stream occupies one for as long as it is open. */
  streamPool: Pool;
  /** Maximum time for a request and its answer. */
  deadlineMs: number;
}
export type Upstreams = Partial<Record<UpstreamName, Upstream>>;

/**
 * One connection pool for each upstream that has an address. A connection is opened when a
 * request needs it.
 */
export function createUpstreams(
  addresses: Record<UpstreamName, { url: string | undefined; deadlineMs: number }>,
  connections = connectionsPerUpstream,
): {
  upstreams: Upstreams;
  close: () => Promise<void>;
} {
  const upstreams: Upstreams = {};
  for (const name of upstreamNames) {
    const { url, deadlineMs } = addresses[name];
    if (url === undefined) continue;
    upstreams[name] = {
      pool: createPool(url, connections),
      slots: createSlots({ total: connections }),
      streamPool: createPool(url),
      deadlineMs,
    };
  }
  return {
    upstreams,
    async close() {
      await Promise.all(
        Object.values(upstreams).flatMap(({ pool, streamPool }) => [
          pool.close(),
          streamPool.close(),
        ]),
      );
    },
  };
}

const createPool = (url: string, connections: number | null = null) =>
  new Pool(url, {
    connections,
    pipelining: 1,
    connectTimeout: connectTimeoutMs,
    keepAliveTimeout: idleTimeoutMs,
    keepAliveMaxTimeout: idleTimeoutMs,
  });
