import { setTimeout as sleep } from 'node:timers/promises';
import { type JsonObject } from '@parley/contracts';
import { openRedis } from '@parley/redis';
import { pushResources } from '@parley/resources';
import { silentLogger } from '@parley/service';
import { type Sentinels, startSentinels, until } from '@parley/testing';
import { builtInToolNames } from '@parley/tools';
import {
  type WebhookServices,
  phoneNumberId,
  readFixture,
  startWebhookServices,
} from '../testing/start-webhook-services';

const limits = { limitMs: 30_000 };

let sentinels: Sentinels;
let services: WebhookServices;
beforeAll(async () => {
  sentinels = await startSentinels();
  services = await startWebhookServices({ redisUrl: sentinels.url });
  const { scope } = services.organization;
  const result = await pushResources(services.db, scope, {
    source: { actor: { type: 'system', id: null, name: null } },
    mayGrantRights: true,
    resources: {
      entityTypes: ['order', 'effect'].map((slug) => ({ slug, name: slug, schema: {} })),
      triggers: [
        {
          slug: 'on-order',
          name: 'On order',
          on: { entityType: 'order', action: 'created' },
          actions: [
            {
              tool: 'entity.create',
              args: { type: 'effect', data: { of: '{{trigger.entityId}}' } },
            },
          ],
        },
      ],
    },
    knownTools: builtInToolNames,
  });
  expect(result).toMatchObject({ ok: true });
});
afterAll(async () => {
  await services?.close();
  await sentinels?.stop();
});

async function rows(sql: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  return (await services.db.pool.query(sql, values)).rows;
}

const event = JSON.parse(readFixture('polar/order.paid.json').toString()) as { data: JsonObject };
const started = { payments: 0, messages: 0, orders: 0 };

/** A payment, whose credit is an effect. */
async function pay(): Promise<void> {
  const id = `order-${(started.payments += 1)}`;
  const { organizationId } = services.organization.scope;
  const data = { ...event.data, id, subtotal_amount: 100, metadata: { organizationId } };
  expect(await services.postBody('/webhook/polar', { ...event, data })).toBe(200);
}

/** A message of a new contact, whose effect is one reply. */
async function write(): Promise<void> {
  const n = (started.messages += 1);
  const from = `1415555${String(n).padStart(4, '0')}`;
  const message = {
    id: `wamid.F${n}`,
    timestamp: '1788264000',
    type: 'text',
    from,
    text: { body: 'hello' },
  };
  const body = { message, conversation: { phone_number: from }, phone_number_id: phoneNumberId };
  const headers = { 'X-Webhook-Event': 'whatsapp.message.received' };
  expect(await services.postBody('/webhook/kapso/messages', body, { headers })).toBe(200);
}

/** An order, whose trigger creates one effect. */
async function order(): Promise<void> {
  started.orders += 1;
  const data = { n: started.orders };
  const { ok } = await services.runtime.entities.create(services.organization.scope, {
    type: 'order',
    data,
    actor: { type: 'system' },
  });
  expect(ok).toBe(true);
}

test('when the primary is killed under load, its replica takes over, and each delivery, message and trigger has its effect once', async () => {
  const { tenant } = services.organization.scope;
  const redis = await openRedis(
    { REDIS_URL: sentinels.url, NODE_ENV: 'production' },
    { name: 'test', log: silentLogger() },
  );
  let isLoaded = true;
  const load = [pay, write, order].map(async (act) => {
    while (isLoaded) {
      await act();
      // wall clock: the pace of the load.
      await sleep(50);
    }
  });
  const effects = async () => {
    const [row] = await rows(
      `select (select count(*) from credit_entries where tenant = $1)::int as credits,
         (select coalesce(sum(amount_cents), 0) from credit_entries where tenant = $1)::int as cents,
         (select count(*) from entities where tenant = $1 and data ? 'of')::int as effects,
         (select count(distinct data->>'of') from entities where tenant = $1 and data ? 'of')::int as orders`,
      [tenant],
    );
    return row!;
  };
  await until(
    async () => Object.values(await effects()).every((count) => Number(count) > 5),
    limits,
  );

  process.kill(sentinels.servers[0].pid, 'SIGKILL');
  const killedAtMs = performance.now();
  await until(() => redis.producer.status !== 'ready', limits);
  const atKill = { ...started };
  await until(
    () =>
      redis.checkWrites().then(
        () => true,
        () => false,
      ),
    limits,
  );
  const writableMs = performance.now() - killedAtMs;
  expect(writableMs).toBeLessThan(30_000);
  const before = await effects();
  await until(async () => Number((await effects()).credits) > Number(before.credits), limits);
  // wall clock: load after the failover.
  await sleep(1_000);
  isLoaded = false;
  await Promise.all(load);
  await redis.close();
  // Requests were accepted during the outage.
  expect(
    Math.min(started.payments - atKill.payments, started.messages - atKill.messages),
  ).toBeGreaterThan(5);

  await services.settled();
  await until(async () => {
    const found = await effects();
    return found.effects === started.orders;
  }, limits);
  console.info(
    `Redis accepted writes again ${(writableMs / 1_000).toFixed(1)} s after the primary was killed`,
  );
  expect(await effects()).toEqual({
    credits: started.payments,
    cents: 100 * started.payments,
    effects: started.orders,
    orders: started.orders,
  });
  const repliesTo = Map.groupBy(services.kapso.sent, ({ body }) => body.to);
  expect(repliesTo.size).toBe(started.messages);
  expect(services.kapso.sent).toHaveLength(started.messages);
  expect(services.kapso.problems).toEqual([]);
});
