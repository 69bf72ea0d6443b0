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
const secret = 'kapso-secret';
/** The deployment's secret before it was replaced by `secret`. */
const earlier = 'earlier-secret';
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
});

/** Adds a connection that was registered before the secret was replaced. */
async function registeredBefore(
  id: string,
  number: string,
  tenant = services.organization.scope.tenant,
) {
  services.kapso.webhooks.push({
    id: `webhook-${id}`,
    phoneNumberId: number,
    url,
    secretKey: webhookSecretOf(earlier, id),
    events: ['x'],
  });
  await services.db.pool.query(
    `insert into channel_connections (id, tenant, environment, phone_number_id, status, webhook_id, agent_slug,
                                      secret_fingerprint, updated_at)
     values ($1, $2, 'development', $3, 'connected', 'webhook-' || $1, 'helper', 'earlier', now())`,
    [id, tenant, number],
  );
}

const sweep = (webhookSecrets: string[] = [secret]) =>
  createSweepRegistrations({
    connect: { ...services.runtime.connect, webhookSecrets },
    log: silentLogger(),
  })({}, { signal: new AbortController().signal });
const secretsAtKapso = () =>
  Object.fromEntries(services.kapso.webhooks.map((one) => [one.phoneNumberId, one.secretKey]));
const state = (secrets: string[] = [secret]) => readRegistrations(services.db, secrets);
const waits = async () =>
  (
    await services.db.pool.query<{ id: string; minutes: number | null; attempts: number }>(
      `select id, round(extract(epoch from webhook_try_at - now()) / 60)::int as minutes, webhook_attempts as attempts
       from channel_connections order by id`,
    )
  ).rows;
const makeDue = () =>
  services.db.pool.query('update channel_connections set webhook_try_at = null');

test('after the secret was replaced, each connection gets a secret of its own, with which no other organization can sign', async () => {
  await registeredBefore('conn_a', phoneNumberId);
  await registeredBefore('conn_b', '222', rival);
  expect(await state()).toMatchObject({
    registered: 2,
    outdated: [
      { id: 'conn_a', organization: 'shop' },
      { id: 'conn_b', organization: 'rival' },
    ],
  });
  await sweep();
  expect(secretsAtKapso()).toEqual({
    [phoneNumberId]: webhookSecretOf(secret, 'conn_a'),
    222: webhookSecretOf(secret, 'conn_b'),
  });
  expect(services.kapso.webhooks).toHaveLength(2);
  expect(JSON.stringify(services.kapso.webhooks)).not.toContain(secret);
  expect(await state()).toEqual({ registered: 2, outdated: [] });
  expect(await state(['new', secret])).toMatchObject({
    outdated: [{ id: 'conn_a' }, { id: 'conn_b' }],
  });
  expect(await state([])).toEqual({ registered: 2, outdated: [] });

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

test('a connection whose fingerprint is not known is registered again', async () => {
  await registeredBefore('conn_a', phoneNumberId);
  await services.db.pool.query('update channel_connections set secret_fingerprint = null');
  expect(await state()).toMatchObject({ outdated: [{ id: 'conn_a' }] });
  await sweep();
  expect(secretsAtKapso()).toEqual({ [phoneNumberId]: webhookSecretOf(secret, 'conn_a') });
  expect(await state()).toMatchObject({ outdated: [] });
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
  expect(secretsAtKapso()['222']).toBe(webhookSecretOf(secret, 'conn_z'));
  expect((await state()).outdated).toHaveLength(30);
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
  expect(await state()).toEqual({ registered: 31, outdated: [] });
  expect((await waits())[0]).toEqual({ id: 'conn_10', minutes: null, attempts: 0 });
});

test('several concurrent workers register each connection once', async () => {
  for (let number = 10; number < 40; number += 1)
    await registeredBefore(`conn_${number}`, `${number}`);
  for (const next of ['first', 'second', 'third', 'fourth', 'fifth']) {
    calls.length = 0;
    await Promise.all(Array.from({ length: 8 }, () => sweep([next])));
    expect((await state([next])).outdated).toEqual([]);
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
  await until(async () => (await state()).outdated.length === 1);
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
    // A process with the old secret registers right after this request, and stores its result
    // before this process does.
    const event = { phoneNumberId, customerId: null };
    expect(await connectNumber({ ...connect, webhookSecrets: [secret] }, event)).toMatchObject({
      ok: true,
    });
    return { status: 204 };
  };
  await sweep(['new', secret]);
  expect(secretsAtKapso()).toEqual({ [phoneNumberId]: webhookSecretOf(secret, 'conn_a') });
  await sweep(['new', secret]);
  expect(secretsAtKapso()).toEqual({ [phoneNumberId]: webhookSecretOf('new', 'conn_a') });
  expect((await state(['new'])).outdated).toEqual([]);
});

test('the worker runs the sweep on its schedule', async () => {
  await registeredBefore('conn_a', phoneNumberId);
  services.startWorker();
  await until(async () => (await state()).outdated.length === 0);
  await services.stopWorker();
});
