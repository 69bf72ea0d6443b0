import { connectNumber, readRegistrations, webhookSecretOf } from '@parley/channels';
import { silentLogger } from '@parley/service';
import { seedOrganization, until } from '@parley/testing';
import { signBody } from '@parley/webhooks';
import { createSweepRegistrations } from './jobs/sweep-registrations';
import {
  type WebhookServices,
  phoneNumberId,
  readFixture,
  startWebhookServices,
} from '../testing/start-webhook-services';

jest.setTimeout(120_000);

const url = 'https://parley.example/webhook/kapso/messages';
const shared = 'kapso-secret';
const messages = '/webhook/kapso/messages';

let services: WebhookServices;
let rival: number;
let calls: string[];

beforeAll(async () => {
  services = await startWebhookServices();
  await services.stopWorker();
  rival = (await seedOrganization(services.db.pool, { slug: 'rival' })).scope.tenant;
});
afterAll(() => services.close());
beforeEach(async () => {
  calls = [];
  services.kapso.webhooks.length = 0;
  services.kapso.beforeWebhookCall = async ({ method, phoneNumberId: number }) => {
    calls.push(`${method} ${number}`);
    return undefined;
  };
  await services.db.pool.query('delete from channel_connections');
  await services.db.pool.query('delete from shared_messaging_secrets');
});

/** Adds a connection in the state of an earlier version: its account has the secret of the deployment. */
async function registeredBefore(
  id: string,
  number: string,
  tenant = services.organization.scope.tenant,
) {
  services.kapso.webhooks.push({
    id: `webhook-${id}`,
    phoneNumberId: number,
    url,
    secretKey: shared,
    events: ['x'],
  });
  await services.db.pool.query(
    `insert into channel_connections (id, tenant, environment, phone_number_id, status, webhook_id, agent_slug,
                                      updated_at)
     values ($1, $2, 'development', $3, 'connected', 'webhook-' || $1, 'helper', now())`,
    [id, tenant, number],
  );
}

const sweep = (webhookSecrets: string[] = [shared]) =>
  createSweepRegistrations({
    connect: { ...services.runtime.connect, webhookSecrets },
    log: silentLogger(),
  })({}, { signal: new AbortController().signal });
const secretsAtKapso = () =>
  Object.fromEntries(services.kapso.webhooks.map((one) => [one.phoneNumberId, one.secretKey]));
const state = (secrets: string[] = [shared]) => readRegistrations(services.db, secrets);
const waits = async () =>
  (
    await services.db.pool.query<{ id: string; minutes: number | null; attempts: number }>(
      `select id, round(extract(epoch from webhook_try_at - now()) / 60)::int as minutes, webhook_attempts as attempts
       from channel_connections order by id`,
    )
  ).rows;
const makeDue = () =>
  services.db.pool.query('update channel_connections set webhook_try_at = null');

test('a connection that an earlier version registered gets its own secret, with which no other organization can sign', async () => {
  await registeredBefore('conn_a', phoneNumberId);
  await registeredBefore('conn_b', '222', rival);
  expect(await state()).toMatchObject({
    registered: 2,
    shared: [{ id: 'conn_a' }, { id: 'conn_b' }],
  });
  await sweep();
  expect(secretsAtKapso()).toEqual({
    [phoneNumberId]: webhookSecretOf(shared, 'conn_a'),
    222: webhookSecretOf(shared, 'conn_b'),
  });
  expect(services.kapso.webhooks).toHaveLength(2);
  expect(JSON.stringify(services.kapso.webhooks)).not.toContain(shared);
  // Organizations know the deployment's secret until it is replaced.
  expect(await state()).toMatchObject({ shared: [], outdated: [], isKnown: true });
  expect(await state(['new', shared])).toMatchObject({ isKnown: false, isEarlierKnown: true });
  expect(await state(['new'])).toMatchObject({ isKnown: false, isEarlierKnown: false });

  const message = JSON.parse(
    readFixture('kapso/whatsapp.message.received.json').toString(),
  ) as object;
  const deliver = (secretKey: string) =>
    services.postBody(messages, message, {
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

test('after the secret has been replaced all connections are registered again, and none is reported', async () => {
  await registeredBefore('conn_a', phoneNumberId);
  await sweep();
  expect(await state(['new', shared])).toMatchObject({
    shared: [],
    outdated: [{ id: 'conn_a', organization: 'shop' }],
  });
  await sweep(['new', shared]);
  expect(secretsAtKapso()).toEqual({ [phoneNumberId]: webhookSecretOf('new', 'conn_a') });
  expect(await state(['new'])).toMatchObject({
    registered: 1,
    outdated: [],
    isKnown: false,
    isEarlierKnown: false,
  });
  // Organizations do not know a secret that no earlier version has registered.
  await sweep(['newest']);
  expect(await state(['newest', 'new'])).toMatchObject({ isKnown: false, isEarlierKnown: false });
});

test('a secret that replaces the known one while an account fails is never stored as known', async () => {
  await registeredBefore('conn_a', phoneNumberId);
  await registeredBefore('conn_dead', '333', rival);
  services.kapso.beforeWebhookCall = async ({ phoneNumberId: number }) =>
    number === '333' ? { status: 403, body: { error: 'No' } } : undefined;
  await sweep();
  expect(await state()).toMatchObject({
    shared: [{ id: 'conn_dead', attempts: 1 }],
    isKnown: true,
  });
  for (const secrets of [['new', shared], ['new']]) {
    await makeDue();
    await sweep(secrets);
    expect(await state(secrets)).toMatchObject({
      shared: [{ id: 'conn_dead' }],
      outdated: [],
      isKnown: false,
    });
  }
  await services.db.pool.query("delete from channel_connections where id = 'conn_dead'");
  expect(await state(['new'])).toMatchObject({
    registered: 1,
    shared: [],
    isKnown: false,
    isEarlierKnown: false,
  });
  expect(await state(['new', shared])).toMatchObject({ isEarlierKnown: true });
});

test('a secret that the migration could not store is known until it is replaced, even without a connection', async () => {
  await services.db.pool.query("insert into shared_messaging_secrets (fingerprint) values ('')");
  expect(await state()).toMatchObject({ registered: 0, isKnown: true });
  await sweep([]);
  expect(await state()).toMatchObject({ isKnown: true });
  await Promise.all([sweep(), sweep()]);
  expect(await state()).toMatchObject({ isKnown: true });
  expect(await state(['new'])).toMatchObject({ isKnown: false });
});

test('an account that refuses is retried at increasing intervals, and does not delay the others', async () => {
  for (let number = 0; number < 30; number += 1)
    await registeredBefore(`conn_${number + 10}`, `9${number}`);
  await registeredBefore('conn_z', '222', rival);
  services.kapso.beforeWebhookCall = async ({ phoneNumberId: number }) => {
    calls.push(number);
    return number.startsWith('9') ? { status: 403, body: { error: 'No' } } : undefined;
  };
  await sweep();
  // It is in the first batch of twenty, although the other account has thirty numbers.
  expect(calls.indexOf('222')).toBeLessThan(20);
  expect(secretsAtKapso()['222']).toBe(webhookSecretOf(shared, 'conn_z'));
  const { shared: left } = await state();
  expect(left).toHaveLength(30);
  calls.length = 0;
  await sweep();
  expect(calls).toEqual([]);
  for (const minutes of [1, 2, 4, 8, 16, 32, 60, 60]) {
    expect((await waits())[0]).toMatchObject({ id: 'conn_10', minutes });
    await services.db.pool.query(
      "update channel_connections set webhook_try_at = now() - interval '1 s' where id = 'conn_10'",
    );
    await sweep();
  }
  services.kapso.beforeWebhookCall = async () => undefined;
  await makeDue();
  await sweep();
  expect(await state()).toMatchObject({ registered: 31, shared: [], outdated: [] });
  expect((await waits())[0]).toEqual({ id: 'conn_10', minutes: null, attempts: 0 });
});

test('several concurrent workers register each connection once', async () => {
  for (let number = 10; number < 40; number += 1)
    await registeredBefore(`conn_${number}`, `${number}`);
  for (const secret of ['first', 'second', 'third', 'fourth', 'fifth']) {
    calls.length = 0;
    await Promise.all(Array.from({ length: 8 }, () => sweep([secret])));
    expect(await state([secret])).toMatchObject({ shared: [], outdated: [] });
    const changes = calls.filter((call) => call.startsWith('PATCH'));
    expect(changes).toHaveLength(30);
    expect(new Set(changes).size).toBe(30);
  }
});

test('a request to an account that does not respond times out and does not delay other accounts', async () => {
  await registeredBefore('conn_hung', '333');
  await registeredBefore('conn_well', '222', rival);
  services.kapso.beforeWebhookCall = ({ phoneNumberId: number }) =>
    number === '333' ? new Promise(() => {}) : Promise.resolve(undefined);
  const startedAtMs = performance.now();
  const swept = sweep();
  await until(async () => (await state()).shared.length === 1);
  expect(performance.now() - startedAtMs).toBeLessThan(10_000);
  await swept;
  expect(performance.now() - startedAtMs).toBeLessThan(30_000);
  expect((await waits())[0]).toEqual({ id: 'conn_hung', minutes: 1, attempts: 1 });
});

test('when two processes concurrently register with different secrets, the connection is registered once more', async () => {
  await registeredBefore('conn_a', phoneNumberId);
  const { connect } = services.runtime;
  let isFirst = true;
  services.kapso.beforeWebhookCall = async ({ method }) => {
    if (method !== 'PATCH' || !isFirst) return undefined;
    isFirst = false;
    // A process with the old secret registers right after this request, and stores its result before this process does.
    const event = { phoneNumberId, customerId: null };
    expect(await connectNumber({ ...connect, webhookSecrets: [shared] }, event)).toMatchObject({
      ok: true,
    });
    return { status: 204 };
  };
  await sweep(['new', shared]);
  expect(secretsAtKapso()).toEqual({ [phoneNumberId]: webhookSecretOf(shared, 'conn_a') });
  await sweep(['new', shared]);
  expect(secretsAtKapso()).toEqual({ [phoneNumberId]: webhookSecretOf('new', 'conn_a') });
  expect(await state(['new'])).toMatchObject({ outdated: [], shared: [] });
});

test('the worker runs the sweep on its schedule', async () => {
  await registeredBefore('conn_a', phoneNumberId);
  services.startWorker();
  await until(async () => (await state()).shared.length === 0);
  await services.stopWorker();
});
