import { randomBytes } from 'node:crypto';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAgents, createCallbackTokens, createModels, providersOfEnvironment } from '@parley/agents';
import { type Db, createDb, createSecretBox } from '@parley/db';
import { createApiKey } from '@parley/identity';
import { createEntities } from '@parley/entities';
import { silentLogger } from '@parley/service';
import { type SeededOrganization, openTestDatabase, seedOrganization } from '@parley/testing';
import { createTools } from '@parley/tools';
import { createTriggers } from '@parley/triggers';
import { createChatApp } from '../app';

let db: Db;
let org: SeededOrganization;
let server: Server;
let url: string;
let close: () => Promise<void>;

const tool = {
  name: 'a.ship',
  description: 'Ships.',
  parameters: {},
  handlerCode: 'return 1',
  secrets: ['CARRIER_KEY'],
};

beforeAll(async () => {
  db = await openTestDatabase(createDb);
  const log = silentLogger();
  const entities = createEntities({ db });
  const secretsKey = randomBytes(32).toString('base64');
  const box = createSecretBox(secretsKey);
  const tools = createTools({ db, entities, log, box, ports: {} });
  const agents = createAgents({
    db,
    tools,
    log,
    models: createModels({ environment: providersOfEnvironment({}), log }),
  });
  close = () => agents.close();
  const triggers = createTriggers({ db, tools, entities, log });
  const callbackTokens = createCallbackTokens(secretsKey);
  server = createServer(createChatApp({ db, agents, tools, triggers, callbackTokens, box, log, checkResponses: true }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/tool-secrets`;
  org = await seedOrganization(db.pool, {
    permissions: ['sync'],
    tools: [tool],
    roles: [{ slug: 'all', name: 'All', policies: [{ resource: '*', actions: ['*'], effect: 'allow' }] }],
  });
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await close();
  await db.close();
});

async function call(method: string, path = '', body?: unknown, key = org.key) {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}
const value = 'ck_live_9f2c';
const set = (body: unknown, key?: string) => call('POST', '', body, key);

it('sets, lists and deletes a secret, and never returns its value', async () => {
  const unset = { name: 'CARRIER_KEY', setAt: null, tools: ['a.ship'] };
  expect(await call('GET')).toEqual({ status: 200, body: { data: [unset] } });
  const setAt = expect.any(Number);
  for (const given of [value, `${value}-2`])
    expect(await set({ name: 'CARRIER_KEY', value: given })).toEqual({
      status: 200,
      body: { name: 'CARRIER_KEY', setAt },
    });
  expect((await call('GET')).body).toEqual({ data: [{ ...unset, setAt }] });
  expect(await call('DELETE', '/CARRIER_KEY')).toEqual({ status: 200, body: { success: true } });
  expect(await call('DELETE', '/CARRIER_KEY')).toMatchObject({
    status: 404,
    body: { error: 'No secret CARRIER_KEY is set in development', code: 'secret_not_found' },
  });
  expect((await call('GET')).body).toEqual({ data: [unset] });
});

it.each([
  [{ name: 'carrier', value }, 'name: must be 1 to 64 capital letters, digits and _, beginning with a letter'],
  [{ name: `A${'B'.repeat(64)}`, value }, 'name: must be'],
  [{ name: '_A', value }, 'name: must be'],
  [{ name: 'A\n', value }, 'name: must be'],
  [{ name: 'A', value: 'abc' }, 'value: must have at least 4 characters'],
  [{ name: 'A', value: 'ä'.repeat(4_097) }, 'value: must have at most 8192 bytes'],
  [{ name: 'A', value: 5 }, 'value'],
  [{ name: 'A' }, 'value'],
  [{ name: 'A', value, environment: 'production' }, 'environment'],
])('refuses %j, without repeating the value', async (body, error) => {
  const answer = await set(body);
  expect(answer).toMatchObject({ status: 400, body: { error: expect.stringContaining(error), code: 'invalid_body' } });
  expect(JSON.stringify(answer.body)).not.toMatch(/ck_live|ää|"abc"/);
});

it('accepts a value of 8 KiB, and refuses the 101st secret with the command that makes room', async () => {
  for (let index = 0; index < 100; index++)
    expect((await set({ name: `S${index}`, value: 'x'.repeat(8_192) })).status).toBe(200);
  expect(await set({ name: 'S100', value })).toMatchObject({
    status: 400,
    body: { code: 'too_many_secrets', error: expect.stringContaining('parley tool-secrets delete NAME') },
  });
  expect((await set({ name: 'S0', value })).status).toBe(200);
  await db.pool.query('delete from tool_secrets');
});

it('requires a key that may push: the permission sync, and no role', async () => {
  const keyOf = async (permissions: ('chat' | 'data' | '*')[], role?: string) =>
    (await createApiKey(db, { ...org.scope, name: 'k', permissions, role })).key;
  for (const [key, code] of [
    [await keyOf(['chat', 'data']), 'missing_permission'],
    [await keyOf(['*'], 'all'), 'key_has_role'],
  ] as const)
    for (const answer of [
      await set({ name: 'A', value }, key),
      await call('GET', '', undefined, key),
      await call('DELETE', '/A', undefined, key),
    ])
      expect(answer).toMatchObject({ status: 403, body: { code } });
  expect((await set({ name: 'A', value }, 'nope')).status).toBe(401);
});

it('reaches the environment of the key only', async () => {
  await set({ name: 'CARRIER_KEY', value });
  const others = [
    (await createApiKey(db, { ...org.scope, environment: 'production', name: 'p', permissions: ['*'] })).key,
    (await seedOrganization(db.pool)).key,
  ];
  for (const key of others) {
    expect((await call('GET', '', undefined, key)).body).toEqual({ data: [] });
    expect((await call('DELETE', '/CARRIER_KEY', undefined, key)).status).toBe(404);
  }
  expect((await call('GET')).body).toMatchObject({ data: [{ name: 'CARRIER_KEY', setAt: expect.any(Number) }] });
});
