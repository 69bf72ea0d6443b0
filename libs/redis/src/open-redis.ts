import {
  type RedisConnection,
  type RedisSettings,
  checkWrites,
  closeRedis,
  connectRedis,
  requireSafeRedis,
} from './connect-redis';
import { reportRarely } from './report-rarely';

type Role = RedisSettings['role'];

/** The variables of a service that uses Redis (`redisVariables`). */
interface RedisVariables {
  REDIS_URL: string;
  NODE_ENV: string;
}

/**
 * Opens the connections of a service: one of the role `producer` and one for each of `roles`. A
 * Redis that may evict jobs is an error in production and a warning otherwise. An unavailable Redis
 * is a warning, and the service starts.
 */
export async function openRedis<R extends Role = never>(
  { REDIS_URL, NODE_ENV }: RedisVariables,
  {
    name,
    roles = [],
    log,
  }: { name: string; roles?: R[]; log: { warn(fields: object, text: string): void } },
): Promise<
  Record<R | 'producer', RedisConnection> & { checkWrites(): Promise<void>; close(): Promise<void> }
> {
  const onError = reportRarely((error, count) => log.warn({ err: error, count }, 'Redis'));
  const connect = (role: Role) =>
    connectRedis({ url: REDIS_URL, role, name: `${name}-${role}`, onError });
  const connections = Object.fromEntries(
    (['producer', ...roles] as const).map((role) => [role, connect(role)]),
  );
  const close = async () => void (await Promise.all(Object.values(connections).map(closeRedis)));
  try {
    await requireSafeRedis(connections.producer!, {
      strict: NODE_ENV === 'production',
      warn: (problem) => log.warn({}, problem),
    });
  } catch (error) {
    await close();
    throw error;
  }
  return {
    ...(connections as Record<R | 'producer', RedisConnection>),
    checkWrites: () => checkWrites(connections.producer!),
    close,
  };
}
