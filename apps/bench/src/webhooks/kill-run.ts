import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { migrate } from '@parley/db';
import { startPostgres, startRedis } from '@parley/embedded';
import { type Stack, seedOrganization, startKapsoServer, startStack } from '@parley/testing';
import Redis from 'ioredis';
import pg from 'pg';
import {
  type SignedDelivery,
  messageReceived,
  orderPaid,
  phoneNumberId,
  secrets,
} from './deliveries';

export interface KillRunOptions {
  kills: number;
  perSecond: number;
  bundles: string;
  /** The folder of the databases, which the caller deletes. */
  folder: string;
  log?: (line: string) => void;
}

export interface KillReport {
  acknowledged: number;
  orders: { acknowledged: number; applied: number; doubled: number; centsMissing: number };
  messages: { acknowledged: number; stored: number; answered: number; sent: number };
  kills: Record<string, number>;
  flushes: number;
  /**
   * Milliseconds from a worker's SIGKILL until the other one has processed all deliveries
   * that waited then.
   */
  redeliveryMs: number[];
  problems: string[];
}

const targets = ['webhook-ingest', 'worker', 'redis', 'postgres', 'worker'] as const;

/**
 * Sends deliveries and retries them until they are acknowledged, as providers do, while
 * ingest, workers, Redis and PostgreSQL are killed in turn and Redis is flushed. Then it
 * counts the effects.
 */
export async function killRun({
  kills,
  perSecond,
  bundles,
  folder,
  log = () => {},
}: KillRunOptions): Promise<KillReport> {
  let postgres = await startPostgres({ dataDir: join(folder, 'postgres') });
  let redis = await startRedis({ dataDir: join(folder, 'redis') });
  await migrate({
    databaseUrl: postgres.url,
    migrationsDir: join(process.cwd(), 'prisma', 'migrations'),
  });
  const pool = new pg.Pool({ connectionString: postgres.url, max: 4 });
  pool.on('error', () => {});
  const { scope } = await seedOrganization(pool, { agents: [{ slug: 'helper' }] });
  await pool.query(
    `insert into channel_connections (id, tenant, environment, phone_number_id, status, agent_slug, updated_at)
     values ('conn', $1, 'development', $2, 'connected', 'helper', now())`,
    [scope.tenant, phoneNumberId],
  );
  const kapso = await startKapsoServer();
  const environment = {
    SECRETS_KEY: randomBytes(32).toString('base64'),
    MESSAGING_WEBHOOK_SECRET: secrets.kapso,
    BILLING_WEBHOOK_SECRET: secrets.polar,
    KAPSO_API_URL: kapso.url,
    KAPSO_API_KEY: kapso.apiKey,
    // A few contacts send all messages, each of which is to be answered on its own.
    MESSAGES_PER_CONTACT_PER_MINUTE: '10000',
    LOG_LEVEL: 'error',
  };
  const options = { databaseUrl: postgres.url, redisUrl: redis.url, bundles, environment };
  const stacks: Stack[] = await Promise.all([
    startStack({ ...options, services: ['webhook-ingest', 'worker'] }),
    startStack({ ...options, services: ['worker'] }),
  ]);
  const ingestUrl = stacks[0]!.services['webhook-ingest']!.url;

  const report: KillReport = {
    acknowledged: 0,
    orders: { acknowledged: 0, applied: 0, doubled: 0, centsMissing: 0 },
    messages: { acknowledged: 0, stored: 0, answered: 0, sent: 0 },
    kills: {},
    flushes: 0,
    redeliveryMs: [],
    problems: [],
  };
  let isOver = false;
  let count = 0;
  let cents = 0;

  /** Sends a delivery until it is acknowledged, as a provider does. */
  async function deliver({ path, body, headers }: SignedDelivery): Promise<void> {
    for (;;) {
      const status = await fetch(ingestUrl + path, {
        method: 'POST',
        body,
        headers: headers(),
        signal: AbortSignal.timeout(5_000),
      }).then(
        async (response) => {
          await response.arrayBuffer();
          return response.status;
        },
        () => 0,
      );
      if (status === 200) return;
      await sleep(100);
    }
  }

  const senders = 10;
  const sending = Array.from({ length: senders }, async () => {
    while (!isOver) {
      const startedAtMs = performance.now();
      const at = (count += 1);
      if (at % 4 === 0) {
        await deliver(
          messageReceived(
            `wamid.BENCH${at}`,
            `1415555${String(at % 40).padStart(4, '0')}`,
            `question ${at}`,
          ),
        );
        report.messages.acknowledged += 1;
      } else {
        cents += at;
        await deliver(orderPaid(scope.organizationId, `order-${at}`, at));
        report.orders.acknowledged += 1;
      }
      await sleep(Math.max(0, (senders * 1_000) / perSecond - (performance.now() - startedAtMs)));
    }
  });

  const one = async (sql: string): Promise<number> =>
    Number((await pool.query<{ n: string }>(sql)).rows[0]!.n);
  async function untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
    for (let tries = 0; ; tries += 1) {
      try {
        return await ask();
      } catch (error) {
        if (tries > 200) throw error;
        await sleep(100);
      }
    }
  }

  async function killServer(pid: number, restart: () => Promise<void>): Promise<void> {
    process.kill(pid, 'SIGKILL');
    await sleep(300);
    await untilAnswered(restart);
  }

  async function killWorker(stack: Stack): Promise<void> {
    const waiting = await untilAnswered(() =>
      pool.query<{ id: string }>("select id from webhook_deliveries where status = 'received'"),
    );
    const ids = waiting.rows.map(({ id }) => id);
    const killedAtMs = performance.now();
    await stack.services.worker!.kill();
    const restarted = sleep(6_000).then(() => stack.services.worker!.start());
    while (ids.length > 0) {
      const { rows } = await pool.query<{ n: string }>(
        "select count(*) as n from webhook_deliveries where id = any($1) and status = 'received'",
        [ids],
      );
      if (Number(rows[0]!.n) === 0 || performance.now() - killedAtMs > 30_000) break;
      await sleep(20);
    }
    if (ids.length > 0) report.redeliveryMs.push(performance.now() - killedAtMs);
    const { rows: late } = await pool.query(
      "select attempts, reason, count(*)::int, max(extract(epoch from now() - received_at))::int as age from webhook_deliveries where id = any($1) and status = 'received' group by 1, 2",
      [ids],
    );
    log(`waiting ${ids.length}, late: ${JSON.stringify(late)}`);
    await restarted;
  }

  for (let at = 0; at < kills; at += 1) {
    await sleep(500 + Math.random() * 1_500);
    const target = targets[at % targets.length]!;
    report.kills[target] = (report.kills[target] ?? 0) + 1;
    if (target === 'webhook-ingest') {
      await stacks[0]!.services['webhook-ingest']!.kill();
      await stacks[0]!.services['webhook-ingest']!.start();
    } else if (target === 'worker') {
      await killWorker(stacks[at % 2]!);
    } else if (target === 'redis') {
      await killServer(redis.pid, async () => {
        redis = await startRedis({ dataDir: join(folder, 'redis'), port: redis.port });
      });
    } else {
      await killServer(postgres.pid, async () => {
        postgres = await startPostgres({ dataDir: join(folder, 'postgres'), port: postgres.port });
      });
    }
    if (at % 5 === 2) {
      const client = new Redis(redis.url, { maxRetriesPerRequest: 3 });
      client.on('error', () => {});
      await client.flushall().catch(() => {});
      client.disconnect();
      report.flushes += 1;
    }
    log(`${at + 1} of ${kills}: ${target}, ${count} deliveries`);
  }

  isOver = true;
  await Promise.all(sending);
  const left = () =>
    one(`select (select count(*) from webhook_deliveries where status = 'received')
              + (select count(*) from messages where status in ('received', 'answering', 'queued', 'sending')) as n`);
  const endMs = performance.now() + 180_000;
  while ((await untilAnswered(left)) > 0 && performance.now() < endMs) await sleep(200);

  report.acknowledged = report.orders.acknowledged + report.messages.acknowledged;
  report.orders.applied = await one('select count(*) as n from credit_entries');
  report.orders.doubled = await one(
    "select coalesce(sum(c - 1), 0) as n from (select count(*) as c from credit_entries group by regexp_replace(cause, '-paid$', '')) x",
  );
  report.orders.centsMissing =
    cents - (await one('select coalesce(sum(amount_cents), 0) as n from credit_entries'));
  report.messages.stored = await one(
    "select count(*) as n from messages where direction = 'inbound'",
  );
  report.messages.answered = await one(
    "select count(*) as n from messages where direction = 'inbound' and status = 'answered'",
  );
  report.messages.sent = kapso.sent.length;
  report.problems.push(...kapso.problems);
  const stuck = await left();
  if (stuck > 0)
    report.problems.push(`${stuck} deliveries or messages were not done within 3 minutes`);
  const { rows: odd } = await pool.query<{ status: string; n: string }>(
    "select status, count(*) as n from messages where status in ('failed', 'unknown') group by 1",
  );
  for (const { status, n } of odd) report.problems.push(`${n} messages are ${status}`);
  await pool.end();
  await Promise.all(stacks.map((stack) => stack.stop()));
  await kapso.stop();
  await redis.stop();
  await postgres.stop();
  return report;
}
