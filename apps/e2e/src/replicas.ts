import {
  type ServiceName,
  type Stack,
  createTestDatabase,
  createTestRedis,
  startStack,
} from '@parley/testing';
import { type Balancer, startBalancer } from './balancer';
import { shared } from './stack';

export const behindBalancer = [
  'data',
  'chat',
  'webhook-ingest',
  'tool-executor',
  'manage',
  'gateway',
] as const;
type Balanced = (typeof behindBalancer)[number];

/**
 * Two processes of each service with one database. The processes of a service share an address,
 * workers have none.
 */
export interface Replicas {
  /** The address of the gateways. */
  url: string;
  databaseUrl: string;
  stacks: readonly Stack[];
  /**
   * Restarts a process as Kubernetes does: no new connections, SIGTERM, and connections again once
   * the new one is ready. A `version` is a folder with its migrations; by default the version of
   * the process stays the same.
   */
  restart(name: ServiceName, replica: number, version?: string): Promise<number | null>;
  stop(): Promise<void>;
}

export async function startReplicas(environment: Record<string, string> = {}): Promise<Replicas> {
  const [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  const balancers = {} as Record<Balanced, Balancer>;
  for (const name of behindBalancer) balancers[name] = await startBalancer();
  const stacks: Stack[] = [];
  const stop = async () => {
    await Promise.all(stacks.map((stack) => stack.stop()));
    await Promise.all(Object.values(balancers).map((balancer) => balancer.close()));
    await database.drop();
  };
  for (let replica = 0; replica < 2; replica += 1) {
    const stack = await startStack({
      databaseUrl: database.url,
      redisUrl: redis.url,
      bundles: shared.bundles,
      environment: {
        SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
        EXECUTOR_TOKEN: 'the-token-of-both-replicas',
        DATA_URL: balancers.data.url,
        CHAT_URL: balancers.chat.url,
        WEBHOOK_INGEST_URL: balancers['webhook-ingest'].url,
        TOOL_EXECUTOR_URL: balancers['tool-executor'].url,
        MANAGE_URL: balancers.manage.url,
        MANAGE_RATE_LIMIT_PER_KEY: '1000000',
        MANAGE_RATE_LIMIT_PER_ORGANIZATION: '1000000',
        EXECUTOR_MIN_PROCESSES: '2',
        RATE_LIMIT_PER_KEY: '1000000',
        RATE_LIMIT_PER_ORGANIZATION: '1000000',
        CHAT_RATE_LIMIT_PER_KEY: '1000000',
        CHAT_RATE_LIMIT_PER_ORGANIZATION: '1000000',
        ...environment,
      },
    }).catch(async (error: unknown) => {
      await stop();
      throw error;
    });
    stacks.push(stack);
    for (const name of behindBalancer) balancers[name].add(stack.services[name]!.url);
  }
  return {
    url: balancers.gateway.url,
    databaseUrl: database.url,
    stacks,
    async restart(name, replica, version) {
      const service = stacks[replica]!.services[name]!;
      const balancer = (balancers as Partial<Record<ServiceName, Balancer>>)[name];
      balancer?.remove(service.url);
      const code = await service.stop();
      await service.start(version);
      balancer?.add(service.url);
      return code;
    },
    stop,
  };
}
