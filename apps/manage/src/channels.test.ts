import { randomUUID } from 'node:crypto';
import { saveIntegration } from '@parley/db';
import { type TestApi, type World, createTestApi } from './testing/create-test-api';
import { insertDefinitions } from './testing/samples/definitions';
import { message } from './testing/samples/messages';

let api: TestApi;
let world: World;
let agent: string;
beforeAll(async () => {
  api = await createTestApi();
});
beforeEach(async () => {
  world = await api.world();
  agent = await insertDefinitions(world);
});
afterAll(() => api.close());

const connect = (body: object, as = world, headers = {}) =>
  as.call('post', '/v1/channels', { body, headers });
const channels = async (as = world) => (await as.call('get', '/v1/channels').expect(200)).body.data;
const audit = async (action: string) =>
  (await world.call('get', `/v1/audit-log?action=${action}`).expect(200)).body.data;
/** Gives the environment an account of its own, whose numbers it may all connect. */
const ownAccount = ({ scope }: World) =>
  saveIntegration(api.db, api.deps.box, scope, {
    provider: 'kapso',
    config: { apiUrl: api.kapso.url },
    secrets: { apiKey: api.kapso.apiKey },
  });
const newNumber = () => {
  const id = randomUUID();
  api.kapso.numbers[id] = '+1 555-765-4321';
  return id;
};

test('a setup link is made for a new customer, once per idempotency key', async () => {
  const headers = { 'Idempotency-Key': 'connect-1' };
  const { body } = await connect({ agent, name: 'Shop' }, world, headers).expect(201);
  expect(body).toMatchObject({
    setupLink: expect.stringContaining('https://'),
    channel: { status: 'pending', agent, router: null, phoneNumber: null },
  });
  expect((await connect({ agent, name: 'Shop' }, world, headers).expect(201)).body).toEqual(body);
  expect(await channels()).toHaveLength(1);
  expect(await audit('channel.connected')).toMatchObject([
    { target: { id: body.channel.id }, after: { agent, phoneNumberId: null } },
  ]);
});

test('a number of the own account is connected and its webhook registered, also again', async () => {
  await ownAccount(world);
  const phoneNumberId = newNumber();
  const { body } = await connect({ agent, phoneNumberId }).expect(201);
  expect(body).toMatchObject({
    setupLink: null,
    channel: { status: 'connected', phoneNumber: '15557654321', agent },
  });
  expect((await connect({ agent, phoneNumberId }).expect(201)).body.channel.id).toBe(
    body.channel.id,
  );
  const webhooks = api.kapso.webhooks.filter((webhook) => webhook.phoneNumberId === phoneNumberId);
  expect(webhooks).toMatchObject([{ url: 'https://parley.example/webhook/kapso/messages' }]);
  expect(await channels()).toHaveLength(1);
});

test('a number belongs to one environment: another organization, environment or answerer is refused', async () => {
  await ownAccount(world);
  const phoneNumberId = newNumber();
  await connect({ agent, phoneNumberId }).expect(201);
  for (const other of [await api.world(), await api.sibling(world, 'production')]) {
    await ownAccount(other);
    const { body } = await connect(
      { agent: await insertDefinitions(other), phoneNumberId },
      other,
    ).expect(409);
    expect(body.code).toBe('number_taken');
    expect(body.error).not.toContain(world.scope.organizationId);
    expect(await channels(other)).toEqual([]);
  }
  const second = await insertDefinitions(world);
  expect((await connect({ agent: second, phoneNumberId }).expect(409)).body.code).toBe(
    'other_answerer',
  );
});

test('of two organizations that connect a number at the same time one gets it', async () => {
  const worlds = await Promise.all([1, 2, 3, 4].map(() => api.world()));
  const phoneNumberId = newNumber();
  const answers = await Promise.all(
    worlds.map(async (one) => {
      await ownAccount(one);
      return connect({ agent: await insertDefinitions(one), phoneNumberId }, one);
    }),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
  const { rows } = await api.db.pool.query(
    'select 1 from channel_connections where phone_number_id = $1',
    [phoneNumberId],
  );
  expect(rows).toHaveLength(1);
});

test('with the shared account only numbers of customers that were made here are connected', async () => {
  const phoneNumberId = newNumber();
  const { body } = await connect({ agent, phoneNumberId }).expect(409);
  expect(body.code).toBe('foreign_customer');
  expect(await channels()).toEqual([]);
  expect(await audit('channel.connected')).toEqual([]);
});

test('a setup link is made for a customer of the own account, or of the shared one if it was made here', async () => {
  const made = (await connect({ agent }).expect(201)).body.channel;
  const again = (await connect({ agent, customerId: made.customerId }).expect(201)).body;
  expect(again).toMatchObject({
    setupLink: expect.any(String),
    channel: { customerId: made.customerId },
  });
  expect(again.channel.id).not.toBe(made.id);
  expect((await connect({ agent, customerId: 'of-another-account' }).expect(409)).body.code).toBe(
    'foreign_customer',
  );
  await ownAccount(world);
  const { body } = await connect({ agent, customerId: 'of-the-own-account' }).expect(201);
  expect(body.channel).toMatchObject({ customerId: 'of-the-own-account', status: 'pending' });
});

test('a customer of another organization or environment is refused, also with an own account', async () => {
  const { customerId } = (await connect({ agent }).expect(201)).body.channel;
  for (const other of [await api.world(), await api.sibling(world, 'production')]) {
    await ownAccount(other);
    const { body } = await connect(
      { agent: await insertDefinitions(other), customerId },
      other,
    ).expect(409);
    expect(body.code).toBe('foreign_customer');
    expect(await channels(other)).toEqual([]);
  }
});

test('a simulated number is connected in development only, without the provider', async () => {
  const { body } = await connect({ agent, isSimulated: true, contactType: null }).expect(201);
  expect(body).toMatchObject({
    setupLink: null,
    channel: {
      status: 'connected',
      phoneNumberId: expect.stringMatching(/^simulated-/),
      agent,
      customerId: null,
    },
  });
  expect(await audit('channel.connected')).toMatchObject([
    { target: { id: body.channel.id }, after: { isSimulated: true, phoneNumberId: null } },
  ]);
  const production = await api.sibling(world, 'production');
  const refused = { agent: await insertDefinitions(production), isSimulated: true };
  expect((await connect(refused, production).expect(409)).body.code).toBe('only_development');
  expect(await channels(production)).toEqual([]);
});

test.each([
  [{}, 'invalid_body'],
  [{ agent: 'a', router: 'b' }, 'invalid_body'],
  [{ agent: 'nobody' }, 'answerer_not_found'],
  [{ router: 'nobody' }, 'answerer_not_found'],
  [{ agent: 'HELPER', phoneNumberId: '../../customers' }, 'invalid_body'],
  [{ agent: 'HELPER', contactType: 'nothing' }, 'entity_type_not_found'],
  [{ agent: 'HELPER', customerId: 'a/b' }, 'invalid_body'],
  [{ agent: 'HELPER', customerId: 'a', phoneNumberId: 'b' }, 'invalid_body'],
  [{ agent: 'HELPER', isSimulated: true, phoneNumberId: 'b' }, 'invalid_body'],
  [{ agent: 'HELPER', name: 'x'.repeat(101) }, 'invalid_body'],
])('refuses %j with %s', async (body, code) => {
  const given = 'agent' in body && body.agent === 'HELPER' ? { ...body, agent } : body;
  expect((await connect(given).expect(400)).body.code).toBe(code);
  expect(await channels()).toEqual([]);
});

test('an unknown number and a provider that is down are 502, and nothing is stored', async () => {
  await ownAccount(world);
  expect((await connect({ agent, phoneNumberId: randomUUID() }).expect(502)).body.code).toBe(
    'provider_failed',
  );
  await saveIntegration(api.db, api.deps.box, world.scope, {
    provider: 'kapso',
    config: { apiUrl: 'http://127.0.0.1:1' },
    secrets: { apiKey: 'k' },
  });
  await connect({ agent }).expect(502);
  expect(await channels()).toEqual([]);
});

test('disconnecting deletes the webhook and the channel, and closes its open messages', async () => {
  await ownAccount(world);
  const phoneNumberId = newNumber();
  const { body } = await connect({ agent, phoneNumberId }).expect(201);
  const { id } = await message(world, { status: 'queued' });
  await api.db.pool.query('update messages set connection_id = $2 where id = $1', [
    id,
    body.channel.id,
  ]);
  const [one, two] = await Promise.all(
    [1, 2].map(() => world.call('delete', `/v1/channels/${body.channel.id}`)),
  );
  expect([one!.status, two!.status].sort()).toEqual([200, 404]);
  expect(api.kapso.webhooks.filter((webhook) => webhook.phoneNumberId === phoneNumberId)).toEqual(
    [],
  );
  expect((await world.call('get', `/v1/messages/${id}`).expect(200)).body).toMatchObject({
    status: 'failed',
    error: 'the number was disconnected',
  });
  expect(await audit('channel.disconnected')).toMatchObject([{ before: { phoneNumberId, agent } }]);
  const { body: pending } = await connect({ agent }).expect(201);
  await world.call('delete', `/v1/channels/${pending.channel.id}`).expect(200);
});

test('an environment has at most 50 channels', async () => {
  await api.db.pool.query(
    `insert into channel_connections (id, tenant, environment, updated_at)
     select 'c' || n || '-' || $1::int, $1::int, 'development', now() from generate_series(1, 50) n`,
    [world.scope.tenant],
  );
  expect((await connect({ agent }).expect(409)).body.code).toBe('too_many');
});
