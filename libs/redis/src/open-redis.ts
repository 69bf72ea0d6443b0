import { type RedisConnection, type RedisSettings, closeRedis, connectRedis, requireSafeRedis } from './redis';

type Role = RedisSettings['role'];

/** The variables of a service that has Redis (libs/service redisVariables). */
interface RedisVariables {
  REDIS_URL: string;
  NODE_ENV: string;
}

/**
 * The connections of a service, one for each role and always one for producing. A Redis that may drop jobs is refused in
 * production, else warned about; so is one that is away, which is no reason not to start.
 */
export async function openRedis<R extends Role = never>(
  { REDIS_URL, NODE_ENV }: RedisVariables,
  { name, roles = [], log }: { name: string; roles?: R[]; log: { warn(fields: object, text: string): void } },
): Promise<Record<R | 'producer', RedisConnection> & { close(): Promise<void> }> {
  const connect = (role: Role) =>
    connectRedis({
      url: REDIS_URL,
      role,
      name: `${name}-${role}`,
      onError: (error) => log.warn({ err: error }, 'Redis'),
    });
  const connections = Object.fromEntries((['producer', ...roles] as const).map((role) => [role, connect(role)]));
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
  return { ...(connections as Record<R | 'producer', RedisConnection>), close };
}
