import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type ServiceProcess, prepareService } from './service-process';

const serviceNames = [
  'data',
  'chat',
  'webhook-ingest',
  'tool-executor',
  'worker',
  'manage',
  'gateway',
] as const;
export type ServiceName = (typeof serviceNames)[number];

/**
 * Services that accept public requests or run users' code get only the secrets that they use, as
 * in a deployment.
 */
const secretsOf: Partial<Record<ServiceName, string[]>> = {
  gateway: [],
  'tool-executor': ['EXECUTOR_TOKEN'],
};

const pick = (all: Record<string, string>, names: string[] = Object.keys(all)) =>
  Object.fromEntries(names.map((name) => [name, all[name] ?? '']));

export interface StackOptions {
  databaseUrl: string;
  redisUrl: string;
  /** The folder of the bundles; default `dist/apps` in the working directory. */
  bundles?: string;
  /** Default: every service that has a bundle. */
  services?: readonly ServiceName[];
  /** Additional environment variables, for all services or by service. */
  environment?: Record<string, string>;
  environmentOf?: Partial<Record<ServiceName, Record<string, string>>>;
}

export interface Stack {
  /** The gateway's address. */
  url: string;
  executorToken: string;
  /** The key with which the services encrypt secrets. */
  secretsKey: string;
  services: Partial<Record<ServiceName, ServiceProcess>>;
  stop(): Promise<void>;
}

/**
 * With PARLEY_TEST_PGBOUNCER=host:port the services of every stack use a PgBouncer in transaction
 * mode. PARLEY_TEST_PGBOUNCER_MODE is the parameter in the address: `prepared` for one of 1.21 or
 * newer, by default `true`.
 */
function throughPooler(databaseUrl: string): string {
  const pooler = process.env.PARLEY_TEST_PGBOUNCER;
  if (!pooler) return databaseUrl;
  const url = Object.assign(new URL(databaseUrl), { host: pooler });
  url.searchParams.set('pgbouncer', process.env.PARLEY_TEST_PGBOUNCER_MODE ?? 'true');
  return url.href;
}

/**
 * Starts services on free ports with the given database and Redis, and waits until all are ready.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const bundles = options.bundles ?? join(process.cwd(), 'dist', 'apps');
  const wanted =
    options.services ?? serviceNames.filter((name) => existsSync(join(bundles, name, 'main.cjs')));
  const services: Partial<Record<ServiceName, ServiceProcess>> = {};
  const executorToken = randomBytes(32).toString('base64url');
  const secretsKey = options.environment?.SECRETS_KEY ?? randomBytes(32).toString('base64');
  const shared: Record<string, string> = {
    DATABASE_URL: throughPooler(options.databaseUrl),
    REDIS_URL: options.redisUrl,
    SECRETS_KEY: secretsKey,
    EXECUTOR_TOKEN: executorToken,
  };
  const addresses = () =>
    Object.fromEntries(
      Object.values(services).map(({ name, url }) => [
        `${name.toUpperCase().replaceAll('-', '_')}_URL`,
        url,
      ]),
    );
  for (const name of wanted) {
    services[name] = await prepareService({
      name,
      bundles,
      environment: () => ({
        ...pick(shared, secretsOf[name]),
        ...addresses(),
        PUBLIC_URL: services.gateway?.url ?? '',
        ...options.environment,
        ...options.environmentOf?.[name],
      }),
    });
  }
  const all = Object.values(services);
  const stop = async () => {
    await services.gateway?.stop();
    await Promise.all(all.map((service) => service.stop()));
  };
  const started = await Promise.allSettled(all.map((service) => service.start()));
  const failed = started.find((result) => result.status === 'rejected');
  if (failed) {
    await stop();
    throw failed.reason;
  }
  return { url: services.gateway?.url ?? '', executorToken, secretsKey, services, stop };
}
