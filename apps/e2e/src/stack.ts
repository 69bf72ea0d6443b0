import {
  type Stack,
  type StackOptions,
  createTestDatabase,
  createTestRedis,
  startStack,
} from '@parley/testing';

/** The stack that all test files of a run share. global-setup.mjs starts it. */
export interface SharedStack {
  /** The address of the gateway. */
  url: string;
  urls: Record<string, string>;
  executorToken: string;
  secretsKey: string;
  /** The gateway's public address that is given to providers. */
  publicUrl: string;
  /** The secrets with which providers sign, by the name of their variable. */
  webhookSecrets: Record<
    | 'IDENTITY_WEBHOOK_SECRET'
    | 'MESSAGING_WEBHOOK_SECRET'
    | 'BILLING_WEBHOOK_SECRET'
    | 'EMAIL_WEBHOOK_SECRET',
    string
  >;
  databaseUrl: string;
  redisUrl: string;
  /** The folder of the services' bundles. */
  bundles: string;
  /** A folder of this run for packages that several test files install. */
  packages: string;
}

export const shared: SharedStack = JSON.parse(process.env.PARLEY_E2E_STACK ?? '{}') as SharedStack;

/**
 * Starts a stack for one test file, with an empty database that is dropped when the
 * stack is stopped.
 */
export async function startOwnStack(
  options: Partial<StackOptions> = {},
): Promise<Stack & { databaseUrl: string; redisUrl: string }> {
  const [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  const { bundles } = shared;
  const stack = await startStack({
    databaseUrl: database.url,
    redisUrl: redis.url,
    bundles,
    ...options,
  });
  return {
    ...stack,
    databaseUrl: database.url,
    redisUrl: redis.url,
    async stop() {
      await stack.stop();
      await database.drop();
    },
  };
}
