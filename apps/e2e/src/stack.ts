import { type Stack, type StackOptions, createTestDatabase, createTestRedis, startStack } from '@parley/testing';

/** The stack that all test files of a run share (global-setup.mjs started it). */
export interface SharedStack {
  /** The gateway's address: all that a client knows. */
  url: string;
  urls: Record<string, string>;
  executorToken: string;
  secretsKey: string;
  /** Where providers are told that the gateway is. */
  publicUrl: string;
  /** What the providers sign with, by variable. */
  webhookSecrets: Record<
    'IDENTITY_WEBHOOK_SECRET' | 'MESSAGING_WEBHOOK_SECRET' | 'BILLING_WEBHOOK_SECRET' | 'EMAIL_WEBHOOK_SECRET',
    string
  >;
  databaseUrl: string;
  redisUrl: string;
  /** Folder of the services' bundles. */
  bundles: string;
  /** Folder of this run, for packages that several test files install. */
  packages: string;
}

export const shared: SharedStack = JSON.parse(process.env.PARLEY_E2E_STACK ?? '{}') as SharedStack;

/** A stack of one's own, for tests that hurt it; its database is empty and goes with it. */
export async function ownStack(
  options: Partial<StackOptions> = {},
): Promise<Stack & { databaseUrl: string; redisUrl: string }> {
  const [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  const { bundles } = shared;
  const stack = await startStack({ databaseUrl: database.url, redisUrl: redis.url, bundles, ...options });
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
