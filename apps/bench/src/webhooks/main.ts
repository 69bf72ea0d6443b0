import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '@parley/db';
import { seedOrganization, startKapsoServer, startStack } from '@parley/testing';
import pg from 'pg';
import { type Samples, machine, measureInTurns, ms, report, summarize, table } from '../measure';
import { type RawClient, openClient, requestBytes } from '../raw-client';
import { type SignedDelivery, orderPaid, phoneNumberId, secrets } from './deliveries';
import { killRun } from './kill-run';

const rates = [100, 150, 200, 250, 300, 400, 500, 750, 1_000, 1_500];
/**
 * Sent before the first rate is measured, because V8 compiles the code of a new process during its
 * first thousands of calls.
 */
const warmUp = { rate: 400, seconds: 10 };
/** Target for each rate: 95 % of deliveries are acknowledged within this time. */
const p95LimitMs = 10;
/** … and everything is applied within this time after the last one. */
const appliedLimitMs = 1_000;
const connections = 16;

/**
 * `node tools/bench.mjs webhooks [kills] [seconds a rate]`: 50 kills and 20 s by default; 0
 * omits the kills.
 */
async function main(): Promise<void> {
  const [kills = 50, seconds = 20] = process.argv.slice(2).map(Number);
  const {
    PARLEY_BENCH_BUNDLES: bundles = '',
    PARLEY_BENCH_FOLDER: benchFolder = '',
    DATABASE_URL = '',
    REDIS_URL = '',
  } = process.env;
  const where = machine();
  await acknowledge({ bundles, databaseUrl: DATABASE_URL, redisUrl: REDIS_URL, seconds });
  if (kills > 0) {
    const folder = mkdtempSync(join(benchFolder, 'kills-'));
    const report = await killRun({
      kills,
      perSecond: 60,
      bundles,
      folder,
      log: (line) => process.stderr.write(`${line}\n`),
    });
    const redelivery = report.redeliveryMs.map((value) => Math.round(value)).sort((a, b) => a - b);
    process.stdout.write(
      `\n## ${kills} kills\n\n${table(
        ['', 'acknowledged', 'applied', 'doubled'],
        [
          ['orders', report.orders.acknowledged, report.orders.applied, report.orders.doubled],
          [
            'messages',
            report.messages.acknowledged,
            report.messages.answered,
            report.messages.sent - report.messages.answered,
          ],
        ],
      )}\n\nKilled: ${JSON.stringify(report.kills)}, FLUSHALL ${report.flushes} times. A killed worker's deliveries were done after (ms): ${redelivery.join(', ')}.\nProblems: ${report.problems.join('; ') || 'none'}\n`,
    );
  }
  process.stdout.write(`\n${where}\n`);
}

async function acknowledge({
  bundles,
  databaseUrl,
  redisUrl,
  seconds,
}: {
  bundles: string;
  databaseUrl: string;
  redisUrl: string;
  seconds: number;
}) {
  const kapso = await startKapsoServer();
  const options = {
    databaseUrl,
    redisUrl,
    bundles,
    environment: {
      NODE_ENV: 'production',
      SECRETS_KEY: randomBytes(32).toString('base64'),
      MESSAGING_WEBHOOK_SECRET: secrets.kapso,
      BILLING_WEBHOOK_SECRET: secrets.polar,
      KAPSO_API_URL: kapso.url,
      KAPSO_API_KEY: kapso.apiKey,
      // A few contacts send all messages, each of which is to be answered on its own.
      MESSAGES_PER_CONTACT_PER_MINUTE: '10000',
      LOG_LEVEL: 'warn',
    },
  };
  // First without the worker, so that the processing of earlier deliveries does not
  // affect the time.
  const stack = await startStack({ ...options, services: ['webhook-ingest'] });
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  const { scope } = await seedOrganization(pool, { agents: [{ slug: 'helper' }] });
  await pool.query(
    `insert into channel_connections (id, tenant, environment, phone_number_id, status, agent_slug, updated_at)
     values ('conn', $1, 'development', $2, 'connected', 'helper', now())`,
    [scope.tenant, phoneNumberId],
  );
  const url = stack.services['webhook-ingest']!.url;
  const bytesOf = ({ path, body, headers }: SignedDelivery) =>
    requestBytes(url, { method: 'POST', path, body, headers: headers() });
  const next = () => bytesOf(orderPaid(scope.organizationId, randomUUID(), 100));
  const open = () => openClient(url, { path: '/' });
  const post = async (client: RawClient, bytes: Buffer) => {
    const status = await client.call(bytes);
    if (status !== 200) throw new Error(`a delivery was answered with ${status}`);
  };

  const client = await open();
  const body = Buffer.alloc(300, 'x');
  const rawInsert = () =>
    pool.query({
      name: 'raw-insert',
      text: `insert into webhook_deliveries (id, provider, delivery_id, path, headers, body, status)
             values ($1, 'raw', $1, '/raw', '{}', $2, 'processed') on conflict (provider, delivery_id) do nothing`,
      values: [newId('dlv'), body],
    });
  const [rounds, perRound] = [8, 100];
  // Signed before the measurement begins, as signing is the provider's work.
  const signed = Array.from({ length: (rounds + 1) * perRound }, next);
  const calls = { raw: rawInsert, acknowledged: () => post(client, signed.pop()!) };
  const single = await measureInTurns(calls, { rounds, perRound });
  const [raw, acknowledged] = [summarize(single.raw), summarize(single.acknowledged)];
  process.stdout.write(
    `\n## One sender\n\n${table(
      ['', 'p10 (ms)', 'p50 (ms)', 'p95 (ms)', '× raw p10', '× raw p50'],
      [
        ['one-row insert through the driver', ms(raw.p10), ms(raw.p50), ms(raw.p95), 1, 1],
        [
          'signed delivery, acknowledged',
          ms(acknowledged.p10),
          ms(acknowledged.p50),
          ms(acknowledged.p95),
          (acknowledged.p10 / raw.p10).toFixed(1),
          (acknowledged.p50 / raw.p50).toFixed(1),
        ],
      ],
    )}\n`,
  );
  client.close();
  report('webhooks: acknowledged ÷ raw insert, p50', acknowledged.p50 / raw.p50, '×', {
    atMost: 4,
  });

  const worker = await startStack({ ...options, services: ['worker'] });

  const clients = await Promise.all(Array.from({ length: connections }, open));
  const lines: (string | number)[][] = [];
  let highest = 0;
  let misses = 0;
  /**
   * Sends deliveries at a rate, and waits until all are applied. Returns the duration of each, of
   * sending all, and of the wait.
   */
  const sendAt = async (rate: number, forSeconds: number) => {
    const samples: Samples = [];
    const startedAtMs = performance.now();
    const total = rate * forSeconds;
    let sent = 0;
    // Each delivery has a scheduled time. When all connections are busy, its wait is part of its
    // duration; a late timer is not.
    await Promise.all(
      clients.map(async (one) => {
        for (let at = sent++; at < total; at = sent++) {
          const dueMs = startedAtMs + (at * 1_000) / rate;
          const bytes = next();
          const isFree = performance.now() < dueMs;
          if (isFree) await sleep(dueMs - performance.now());
          const fromMs = isFree ? performance.now() : dueMs;
          await post(one, bytes);
          samples.push(performance.now() - fromMs);
        }
      }),
    );
    const sentAtMs = performance.now();
    for (;;) {
      const { rows } = await pool.query(
        "select 1 from webhook_deliveries where status = 'received' and coalesce(tenant, 0) is not null limit 1",
      );
      if (rows.length === 0 || performance.now() - sentAtMs > 300_000) break;
      await sleep(100);
    }
    return { samples, tookMs: sentAtMs - startedAtMs, appliedMs: performance.now() - sentAtMs };
  };
  await sendAt(warmUp.rate, warmUp.seconds);
  for (const rate of rates) {
    const { samples, tookMs, appliedMs } = await sendAt(rate, seconds);
    const { p50, p95, p99 } = summarize(samples);
    lines.push([
      rate,
      Math.round((samples.length * 1_000) / tookMs),
      ms(p50),
      ms(p95),
      ms(p99),
      ms(appliedMs),
    ]);
    const isMet = p95 <= p95LimitMs && appliedMs <= appliedLimitMs;
    if (isMet) highest = rate;
    // One rate may miss because of other load on the machine.
    misses = isMet ? 0 : misses + 1;
    if (misses === 2) break;
  }
  process.stdout.write(
    `\n## ${seconds} s at a rate, worker running\n\n${table(['asked for /s', 'acknowledged /s', 'p50 (ms)', 'p95 (ms)', 'p99 (ms)', 'processed after (ms)'], lines)}\n`,
  );
  report('webhooks: highest rate with p95 ≤ 10 ms, applied within 1 s', highest, 'deliveries/s', {
    atLeast: 500,
    target: 1_000,
  });
  const { rows } = await pool.query<{ n: string; applied: string }>(
    `select (select count(*) from webhook_deliveries where provider = 'polar') as n, (select count(*) from credit_entries) as applied`,
  );
  process.stdout.write(`\nAcknowledged ${rows[0]!.n}, applied ${rows[0]!.applied}.\n`);
  for (const one of clients) one.close();
  await pool.end();
  await Promise.all([stack.stop(), worker.stop()]);
  await kapso.stop();
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${(error as Error).stack}\n`);
    process.exit(1);
  },
);
