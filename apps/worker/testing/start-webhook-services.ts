/* eslint-disable @nx/enforce-module-boundaries -- deliveries pass through two services here */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Db, createDb } from '@parley/db';
import {
  type Queues,
  closeRedis,
  connectRedis,
  createExecutionChunks,
  createQueues,
  waitForRedis,
} from '@parley/redis';
import { createLogger, createMetrics, loadConfig, silentLogger } from '@parley/service';
import {
  type KapsoServer,
  type ResendServer,
  type SeededOrganization,
  createTestRedis,
  openTestDatabase,
  seedOrganization,
  startKapsoServer,
  startResendServer,
  until,
} from '@parley/testing';
import { createInbox, signBody, signStandardWebhook } from '@parley/webhooks';
import { createIngestApp } from '../../webhook-ingest/src/app';
import { createJobSender } from '../../webhook-ingest/src/job-sender';
import { createRefusalLog } from '../../webhook-ingest/src/refusal-log';
import { retentionDays, workerVariables } from '../src/config';
import { type JobRuntime, createJobRuntime } from '../src/job-runtime';
import { createWorker } from '../src/worker';

const secrets = {
  clerk: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
  kapso: 'kapso-secret',
  polar: 'polar_whs_secret_of_the_test',
  resend: `whsec_${Buffer.alloc(32, 2).toString('base64')}`,
};
export const phoneNumberId = '109876543210987';

const fixtures = join(__dirname, '../../../libs/webhooks/fixtures');
export const readFixture = (file: string): Buffer => readFileSync(join(fixtures, file));

export interface Sample {
  file: string;
  path: string;
  headers?: Record<string, string>;
}
export const samples = (
  JSON.parse(readFixture('manifest.json').toString()) as { samples: Sample[] }
).samples;

export interface WebhookServices {
  db: Db & { url: string };
  kapso: KapsoServer;
  resend: ResendServer;
  /** The organization of the number in the fixtures; its agent `helper` answers. */
  organization: SeededOrganization;
  connectionId: string;
  runtime: JobRuntime;
  queues: Queues;
  redis: { url: string; flush(): Promise<void> };
  /** Posts a fixture with its provider's signature. Returns the status of the response. */
  post(sample: Sample, options?: { id?: string }): Promise<number>;
  postBody(
    path: string,
    body: unknown,
    options?: { id?: string; headers?: Record<string, string> },
  ): Promise<number>;
  /** Waits until all deliveries, messages and purges are processed. */
  settled(): Promise<true>;
  stopWorker(): Promise<void>;
  startWorker(): void;
  close(): Promise<void>;
}

type Definitions = Pick<
  NonNullable<Parameters<typeof seedOrganization>[1]>,
  'agents' | 'entityTypes' | 'roles' | 'routers' | 'tools'
>;

/**
 * Starts webhook-ingest and the worker in this process, on real PostgreSQL and Redis, with stand-ins
 * of the providers.
 */
export async function startWebhookServices({
  definitions = {},
  variables = {},
  redisUrl,
  database,
}: {
  definitions?: Definitions;
  variables?: Record<string, string>;
  /** Default: a database of the test run's Redis. */
  redisUrl?: string;
  /** Default: a database of its own. */
  database?: Db & { url: string };
} = {}): Promise<WebhookServices> {
  const [db, redis, kapso, resend] = await Promise.all([
    database ?? openTestDatabase(createDb),
    redisUrl === undefined ? createTestRedis() : { url: redisUrl, flush: async () => {} },
    startKapsoServer(),
    startResendServer(),
  ]);
  const log = process.env.PARLEY_TEST_LOG
    ? createLogger({ service: 'test', level: 'warn' })
    : silentLogger();
  const config = loadConfig(workerVariables, {
    DATABASE_URL: db.url,
    REDIS_URL: redis.url,
    SECRETS_KEY: Buffer.alloc(32).toString('base64'),
    KAPSO_API_URL: kapso.url,
    KAPSO_API_KEY: kapso.apiKey,
    RESEND_API_URL: resend.url,
    RESEND_API_KEY: resend.apiKey,
    EMAIL_FROM: 'Acme <hello@acme.example>',
    MESSAGING_WEBHOOK_SECRET: secrets.kapso,
    PUBLIC_URL: 'https://parley.example',
    ...variables,
  });
  const { agents = [], entityTypes = [], ...others } = definitions;
  const organization = await seedOrganization(db.pool, {
    slug: 'shop',
    agents: [
      { slug: 'helper', tools: ['entity.create', 'entity.query', 'whatsapp.send'] },
      ...agents,
    ],
    entityTypes: [{ slug: 'order', name: 'Order', schema: { note: 'string' } }, ...entityTypes],
    ...others,
  });
  const connectionId = 'conn_fixture';
  await db.pool.query(
    `insert into channel_connections (id, tenant, environment, external_customer_id, phone_number_id, phone_number,
                                      status, agent_slug, updated_at)
     values ($1, $2, 'development', 'customer', $3, '15551234567', 'connected', 'helper', now())`,
    [connectionId, organization.scope.tenant, phoneNumberId],
  );
  const producer = connectRedis({ url: redis.url, role: 'producer' });
  await waitForRedis(producer, 5_000);
  const queues = createQueues({ redis: producer });
  const runtime = createJobRuntime({
    config,
    db,
    log,
    metrics: createMetrics('worker'),
    chunkLog: createExecutionChunks(producer),
  });

  const inbox = createInbox(db);
  const app = createIngestApp({
    db,
    inbox,
    jobs: createJobSender({ queues, log }),
    refusals: createRefusalLog({ inbox, log }),
    log,
    checkResponses: true,
    secrets: {
      clerk: [secrets.clerk],
      kapso: [secrets.kapso],
      polar: [secrets.polar],
      resend: [secrets.resend],
    },
  });
  const server: Server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  let worker: { close(): Promise<void> } | undefined;
  let workerRedis: ReturnType<typeof connectRedis> | undefined;
  const startWorker = () => {
    workerRedis = connectRedis({ url: redis.url, role: 'worker' });
    worker = createWorker({
      ...runtime,
      db,
      queues,
      redis: workerRedis,
      log,
      ...retentionDays(config),
    });
  };
  const stopWorker = async () => {
    await worker?.close();
    if (workerRedis) await closeRedis(workerRedis);
    worker = undefined;
  };
  startWorker();

  async function send(
    path: string,
    body: Buffer,
    headers: Record<string, string>,
  ): Promise<number> {
    const { port } = server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      body: new Uint8Array(body),
      headers,
    });
    await response.arrayBuffer();
    return response.status;
  }

  const services: WebhookServices = {
    db,
    kapso,
    resend,
    organization,
    connectionId,
    runtime,
    queues,
    redis,
    post: ({ file, path, headers = {} }, { id = randomUUID() } = {}) => {
      const body = readFixture(file);
      return send(path, body, { ...headers, ...signatureOf(path, body, id) });
    },
    postBody: (path, body, { id = randomUUID(), headers = {} } = {}) => {
      const bytes = Buffer.from(JSON.stringify(body));
      return send(path, bytes, { ...signatureOf(path, bytes, id), ...headers });
    },
    settled: () =>
      until(async () => {
        const { rows } = await db.pool.query<{ left: number }>(
          `select (select count(*) from webhook_deliveries where status = 'received')
                + (select count(*) from messages where status in ('received', 'answering', 'queued', 'sending'))
                + (select count(*) from organization_purges where finished_at is null) as left`,
        );
        return Number(rows[0]!.left) === 0;
      }),
    startWorker,
    stopWorker,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await stopWorker();
      for (const { close } of runtime.closing) await close();
      await queues.close();
      await closeRedis(producer);
      await Promise.all([kapso.stop(), resend.stop(), db.close()]);
    },
  };
  return services;
}

/** The headers with which the provider of a path signs a delivery. */
function signatureOf(path: string, body: Buffer, id: string): Record<string, string> {
  const nowMs = Date.now();
  if (path.startsWith('/webhook/kapso'))
    return { 'X-Webhook-Signature': signBody(body, secrets.kapso) };
  if (path === '/webhook/polar')
    return signStandardWebhook({
      id,
      body,
      secret: secrets.polar,
      family: 'webhook',
      isSecretDecoded: false,
      nowMs,
    });
  const secret = path === '/webhook/clerk' ? secrets.clerk : secrets.resend;
  return signStandardWebhook({ id, body, secret, family: 'svix', isSecretDecoded: true, nowMs });
}
