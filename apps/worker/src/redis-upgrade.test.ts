import { type JsonObject } from '@parley/contracts';
import { type RedisConnection, closeRedis, connectRedis, waitForRedis } from '@parley/redis';
import { silentLogger } from '@parley/service';
import { until } from '@parley/testing';
import { Queue, Worker } from 'bullmq';
import { createApplyBilling } from './jobs/apply-billing';
import { observeJobs } from './observe-jobs';
import {
  type WebhookServices,
  readFixture,
  startWebhookServices,
} from '../testing/start-webhook-services';

const count = 60;
/** How earlier versions opened their queues. */
const oldOptions = (connection: RedisConnection) => ({
  connection,
  prefix: 'parley',
  skipVersionCheck: true,
});
const finished = { attempts: 8, removeOnComplete: true, removeOnFail: true };

let services: WebhookServices;
let redis: RedisConnection;
let workerRedis: RedisConnection;
beforeAll(async () => {
  services = await startWebhookServices();
  await services.stopWorker();
  redis = connectRedis({ url: services.redis.url, role: 'producer' });
  workerRedis = connectRedis({ url: services.redis.url, role: 'worker' });
  await waitForRedis(redis, 5_000);
});
afterAll(async () => {
  await closeRedis(workerRedis);
  await closeRedis(redis);
  await services.close();
});

const event = JSON.parse(readFixture('polar/order.paid.json').toString()) as { data: JsonObject };

test('jobs of an earlier version have their effects once while its workers and new ones run, and its keys are deleted afterwards', async () => {
  const { organizationId, tenant } = services.organization.scope;
  for (let n = 0; n < count; n += 1) {
    const data = {
      ...event.data,
      id: `order-${n}`,
      subtotal_amount: 100,
      metadata: { organizationId },
    };
    expect(await services.postBody('/webhook/polar', { ...event, data })).toBe(200);
  }
  // As if a process of the earlier version had stored these deliveries: its jobs wait, or are delayed by a retry.
  await services.redis.flush();
  const { rows } = await services.db.pool.query<{ id: string }>(
    'select id from webhook_deliveries',
  );
  expect(rows).toHaveLength(count);
  const billing = new Queue('apply-billing', oldOptions(redis));
  await billing.addBulk(
    rows.map(({ id }, at) => ({
      name: 'apply-billing',
      data: { payload: { deliveryId: id } },
      opts: { ...finished, jobId: id, delay: at % 2 === 0 ? 0 : 3_600_000 },
    })),
  );
  const sweeps = new Queue('sweep-executions', oldOptions(redis));
  await sweeps.upsertJobScheduler(
    'sweep-executions',
    { every: 1_000 },
    { name: 'sweep-executions', opts: finished },
  );
  let isSwept = false;
  let handled = 0;
  const handle = createApplyBilling({
    db: services.db,
    queues: services.queues,
    observe: observeJobs({ log: silentLogger() }).observe,
  });
  const signal = new AbortController().signal;
  const old = [
    new Worker('sweep-executions', async () => void (isSwept = true), oldOptions(workerRedis)),
    new Worker<{ payload: { deliveryId: string } }>(
      'apply-billing',
      async (job) => {
        await handle(
          { deliveries: [{ id: job.data.payload.deliveryId }] },
          {
            jobId: job.id!,
            requestId: undefined,
            attempt: 1,
            isLastAttempt: false,
            signal,
          },
        );
        handled += 1;
      },
      oldOptions(workerRedis),
    ),
  ];
  services.startWorker();
  await services.settled();
  await until(() => isSwept && handled === count / 2);
  const credits = await services.db.pool.query<{ cents: number }>(
    'select amount_cents as cents from credit_entries where tenant = $1',
    [tenant],
  );
  expect(credits.rows).toEqual(Array.from({ length: count }, () => ({ cents: 100 })));

  // Workers of the earlier version use them.
  const oldKeys = async () =>
    (await redis.keys('parley:*')).filter((key) => /^parley:[a-z-]+:/.test(key));
  expect(await services.queues.deleteOldKeys()).toBe(0);
  expect((await oldKeys()).length).toBeGreaterThan(count / 2);
  for (const worker of old) await worker.close();
  await redis.zadd('parley:sweep-executions:repeat', Date.now() - 61_000, 'sweep-executions');
  await services.queues.enqueue('sweep-retention', {});
  await until(async () => (await oldKeys()).length === 0);
  for (const queue of [billing, sweeps]) await queue.close();
});
