import { connectNumber, readRegistrations, webhookSecretOf } from '@parley/channels';
import { silentLogger } from '@parley/service';
import { seedOrganization, until } from '@parley/testing';
import { signBody } from '@parley/webhooks';
import { createSweepRegistrations } from './jobs/sweep-registrations';
import { type WebhookBench, phoneNumberId, readFixture, startWebhooks } from './webhooks-under-test';

jest.setTimeout(120_000);

const url = 'https://parley.example/webhook/kapso/messages';
const shared = 'kapso-secret';
const messages = '/webhook/kapso/messages';

let bench: WebhookBench;
let rival: number;
let calls: string[];

beforeAll(async () => {
  bench = await startWebhooks();
  await bench.stopWorker();
  rival = (await seedOrganization(bench.db.pool, { slug: 'rival' })).scope.tenant;
});
afterAll(() => bench.close());
beforeEach(async () => {
  calls = [];
  bench.kapso.webhooks.length = 0;
  bench.kapso.beforeWebhookCall = async ({ method, phoneNumberId: number }) => {
    calls.push(`${method} ${number}`);
    return undefined;
  };
  await bench.db.pool.query('delete from channel_connections');
  await bench.db.pool.query('delete from shared_messaging_secrets');
});

/** A connection as the version before this one left it: its account knows the secret of the deployment. */
async function registeredBefore(id: string, number: string, tenant = bench.organization.scope.tenant) {
  bench.kapso.webhooks.push({ id: `webhook-${id}`, phoneNumberId: number, url, secretKey: shared, events: ['x'] });
  await bench.db.pool.query(
    `insert into channel_connections (id, tenant, environment, phone_number_id, status, webhook_id, agent_slug,
                                      updated_at)
     values ($1, $2, 'development', $3, 'connected', 'webhook-' || $1, 'helper', now())`,
    [id, tenant, number],
  );
}

const sweep = (webhookSecrets: string[] = [shared]) =>
  createSweepRegistrations({ connect: { ...bench.runtime.connect, webhookSecrets }, log: silentLogger() })(
    {},
    { signal: new AbortController().signal },
  );
const secretsAtKapso = () => Object.fromEntries(bench.kapso.webhooks.map((one) => [one.phoneNumberId, one.secretKey]));
const state = (secrets: string[] = [shared]) => readRegistrations(bench.db, secrets);
const waits = async () =>
  (
    await bench.db.pool.query<{ id: string; minutes: number | null; attempts: number }>(
      `select id, round(extract(epoch from webhook_try_at - now()) / 60)::int as minutes, webhook_attempts as attempts
       from channel_connections order by id`,
    )
  ).rows;
const makeDue = () => bench.db.pool.query('update channel_connections set webhook_try_at = null');

test('what an earlier version registered gets a secret of its own, with which no other organization can sign', async () => {
  await registeredBefore('conn_a', phoneNumberId);
  await registeredBefore('conn_b', '222', rival);
  expect(await state()).toMatchObject({ registered: 2, shared: [{ id: 'conn_a' }, { id: 'conn_b' }] });
  await sweep();
  expect(secretsAtKapso()).toEqual({
    [phoneNumberId]: webhookSecretOf(shared, 'conn_a'),
    222: webhookSecretOf(shared, 'conn_b'),
  });
  expect(bench.kapso.webhooks).toHaveLength(2);
  expect(JSON.stringify(bench.kapso.webhooks)).not.toContain(shared);
  // Organizations know the old one, until it is replaced.
  expect(await state()).toMatchObject({ shared: [], outdated: [], isKnown: true });
  expect(await state(['new', shared])).toMatchObject({ isKnown: false, isEarlierKnown: true });
  expect(await state(['new'])).toMatchObject({ isKnown: false, isEarlierKnown: false });

  const message = JSON.parse(readFixture('kapso/whatsapp.message.received.json').toString()) as object;
  const deliver = (secretKey: string) =>
    bench.postBody(messages, message, {
      headers: {
        'x-webhook-event': 'whatsapp.message.received',
        'X-Webhook-Signature': signBody(Buffer.from(JSON.stringify(message)), secretKey),
      },
    });
  expect(await deliver(secretsAtKapso()[phoneNumberId]!)).toBe(200);
  expect(await deliver(secretsAtKapso()['222']!)).toBe(403);

  calls.length = 0;
  await sweep();
  expect(calls).toEqual([]);
});

test('once the secret was replaced all are registered again, and there is nothing more to say', async () => {
  await registeredBefore('conn_a', phoneNumberId);
  await sweep();
  expect(await state(['new', shared])).toMatchObject({
    shared: [],
    outdated: [{ id: 'conn_a', organization: 'shop' }],
  });
  await sweep(['new', shared]);
  expect(secretsAtKapso()).toEqual({ [phoneNumberId]: webhookSecretOf('new', 'conn_a') });
  expect(await state(['new'])).toMatchObject({ registered: 1, outdated: [], isKnown: false, isEarlierKnown: false });
  // Nobody knows a secret that no earlier version has registered.
  await sweep(['newest']);
  expect(await state(['newest', 'new'])).toMatchObject({ isKnown: false, isEarlierKnown: false });
});

test('a secret that replaces the known one while an account fails is not noted as known, then or later', async () => {
  await registeredBefore('conn_a', phoneNumberId);
  await registeredBefore('conn_dead', '333', rival);
  bench.kapso.beforeWebhookCall = async ({ phoneNumberId: number }) =>
    number === '333' ? { status: 403, body: { error: 'No' } } : undefined;
  await sweep();
  expect(await state()).toMatchObject({ shared: [{ id: 'conn_dead', attempts: 1 }], isKnown: true });
  for (const secrets of [['new', shared], ['new']]) {
    await makeDue();
    await sweep(secrets);
    expect(await state(secrets)).toMatchObject({ shared: [{ id: 'conn_dead' }], outdated: [], isKnown: false });
  }
  await bench.db.pool.query("delete from channel_connections where id = 'conn_dead'");
  expect(await state(['new'])).toMatchObject({ registered: 1, shared: [], isKnown: false, isEarlierKnown: false });
  expect(await state(['new', shared])).toMatchObject({ isEarlierKnown: true });
});

test('a secret that the migration could not name is known until it was replaced, also without a connection', async () => {
  await bench.db.pool.query("insert into shared_messaging_secrets (fingerprint) values ('')");
  expect(await state()).toMatchObject({ registered: 0, isKnown: true });
  await sweep([]);
  expect(await state()).toMatchObject({ isKnown: true });
  await Promise.all([sweep(), sweep()]);
  expect(await state()).toMatchObject({ isKnown: true });
  expect(await state(['new'])).toMatchObject({ isKnown: false });
});

test('an account that refuses is asked less and less often, and the others are registered meanwhile', async () => {
  for (let number = 0; number < 30; number += 1) await registeredBefore(`conn_${number + 10}`, `9${number}`);
  await registeredBefore('conn_z', '222', rival);
  bench.kapso.beforeWebhookCall = async ({ phoneNumberId: number }) => {
    calls.push(number);
    return number.startsWith('9') ? { status: 403, body: { error: 'No' } } : undefined;
  };
  await sweep();
  // Its turn comes in the first batch of twenty, although the other account has thirty numbers.
  expect(calls.indexOf('222')).toBeLessThan(20);
  expect(secretsAtKapso()['222']).toBe(webhookSecretOf(shared, 'conn_z'));
  const { shared: left } = await state();
  expect(left).toHaveLength(30);
  calls.length = 0;
  await sweep();
  expect(calls).toEqual([]);
  for (const minutes of [1, 2, 4, 8, 16, 32, 60, 60]) {
    expect((await waits())[0]).toMatchObject({ id: 'conn_10', minutes });
    await bench.db.pool.query("update channel_connections set webhook_try_at = now() where id = 'conn_10'");
    await sweep();
  }
  bench.kapso.beforeWebhookCall = async () => undefined;
  await makeDue();
  await sweep();
  expect(await state()).toMatchObject({ registered: 31, shared: [], outdated: [] });
  expect((await waits())[0]).toEqual({ id: 'conn_10', minutes: null, attempts: 0 });
});

test('several workers at once register each connection once', async () => {
  for (let number = 10; number < 40; number += 1) await registeredBefore(`conn_${number}`, `${number}`);
  for (const secret of ['first', 'second', 'third', 'fourth', 'fifth']) {
    calls.length = 0;
    await Promise.all(Array.from({ length: 8 }, () => sweep([secret])));
    expect(await state([secret])).toMatchObject({ shared: [], outdated: [] });
    const changes = calls.filter((call) => call.startsWith('PATCH'));
    expect(changes).toHaveLength(30);
    expect(new Set(changes).size).toBe(30);
  }
});

test('an account that does not answer is given up in time, and holds up nobody', async () => {
  await registeredBefore('conn_hung', '333');
  await registeredBefore('conn_well', '222', rival);
  bench.kapso.beforeWebhookCall = ({ phoneNumberId: number }) =>
    number === '333' ? new Promise(() => {}) : Promise.resolve(undefined);
  const startedAtMs = performance.now();
  const swept = sweep();
  await until(async () => (await state()).shared.length === 1);
  expect(performance.now() - startedAtMs).toBeLessThan(10_000);
  await swept;
  expect(performance.now() - startedAtMs).toBeLessThan(30_000);
  expect((await waits())[0]).toEqual({ id: 'conn_hung', minutes: 1, attempts: 1 });
});

test('when two registered at once with different secrets, the connection is registered once more', async () => {
  await registeredBefore('conn_a', phoneNumberId);
  const { connect } = bench.runtime;
  let isFirst = true;
  bench.kapso.beforeWebhookCall = async ({ method }) => {
    if (method !== 'PATCH' || !isFirst) return undefined;
    isFirst = false;
    // A process with the old secret registers right after this one's change, and notes it before.
    const event = { phoneNumberId, customerId: null };
    expect(await connectNumber({ ...connect, webhookSecrets: [shared] }, event)).toMatchObject({ ok: true });
    return { status: 204 };
  };
  await sweep(['new', shared]);
  expect(secretsAtKapso()).toEqual({ [phoneNumberId]: webhookSecretOf(shared, 'conn_a') });
  await sweep(['new', shared]);
  expect(secretsAtKapso()).toEqual({ [phoneNumberId]: webhookSecretOf('new', 'conn_a') });
  expect(await state(['new'])).toMatchObject({ outdated: [], shared: [] });
});

test('the worker sweeps by itself', async () => {
  await registeredBefore('conn_a', phoneNumberId);
  bench.startWorker();
  await until(async () => (await state()).shared.length === 0);
  await bench.stopWorker();
});
