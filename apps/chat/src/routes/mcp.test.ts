import type { JsonObject } from '@parley/contracts';
import { type Db, createDb } from '@parley/db';
import { createApiKey } from '@parley/identity';
import { type SeededOrganization, openTestDatabase, seedOrganization } from '@parley/testing';
import { type ChatUnderTest, startChat } from '../chat-under-test';
import { createOriginCheck } from '../own-origins';

let db: Db;
let org: SeededOrganization;
let chat: ChatUnderTest;
let url: string;

beforeAll(async () => {
  db = await openTestDatabase(createDb);
  chat = await startChat({
    db,
    isOwnOrigin: createOriginCheck('https://parley.test', ['https://app.test/']),
  });
  url = `${chat.url}/v1/mcp`;
  org = await seedOrganization(db.pool, {
    agents: [{ slug: 'reader', tools: ['entity.get', 'entity.create'], roles: ['reader'] }],
    roles: [
      {
        slug: 'reader',
        name: 'Reader',
        policies: [{ resource: 'order', actions: ['read'], effect: 'allow' }],
      },
      { slug: 'denied', name: 'Denied', policies: [] },
    ],
    entityTypes: [{ slug: 'order', name: 'Order', schema: {} }],
  });
});

afterAll(async () => {
  await chat.close();
  await db.close();
});

async function post(message: unknown, { key = org.key, query = '', headers = {} } = {}) {
  const response = await fetch(url + query, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify(message),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? null : (JSON.parse(text) as JsonObject) };
}

const call = (name: string, args: JsonObject) => ({
  jsonrpc: '2.0',
  id: 7,
  method: 'tools/call',
  params: { name, arguments: args },
});
const create = call('entity_create', { type: 'order', data: { n: 1 } });
const denied = (action: string) => ({
  isError: true,
  content: [
    { type: 'text', text: `Permission denied: cannot perform '${action}' on 'order'` },
    { type: 'text', text: expect.any(String) },
  ],
});

describe('POST /v1/mcp', () => {
  it('offers the tools of the environment to a key with the permission sync', async () => {
    const list = await post({ jsonrpc: '2.0', id: 'a', method: 'tools/list' });
    expect(list).toMatchObject({
      status: 200,
      body: { id: 'a', result: { tools: expect.any(Array) } },
    });
    expect(await post(create)).toMatchObject({
      status: 200,
      body: { id: 7, result: { structuredContent: { type: 'order' } } },
    });
  });

  it('accepts notifications without a body', async () => {
    expect(await post({ jsonrpc: '2.0', method: 'notifications/initialized' })).toEqual({
      status: 202,
      body: null,
    });
  });

  it('offers the tools of an agent and acts as that agent', async () => {
    const list = await post(
      { jsonrpc: '2.0', id: 1, method: 'tools/list' },
      { query: '?agent=reader' },
    );
    expect(list.body).toMatchObject({
      result: { tools: [{ name: 'entity_get' }, { name: 'entity_create' }] },
    });
    expect((await post(create, { query: '?agent=reader' })).body).toMatchObject({
      result: denied('create'),
    });
    expect(await post(create, { query: '?agent=missing' })).toMatchObject({ status: 404 });
  });

  it('gives a key with a role the permissions of the role', async () => {
    const { scope } = org;
    const given = { ...scope, name: 'r', permissions: ['*' as const] };
    const { key } = await createApiKey(db, { ...given, role: 'denied' });
    expect((await post(create, { key })).body).toMatchObject({ result: denied('create') });
    const get = call('entity_get', { type: 'order', id: 'x' });
    expect((await post(get, { key, query: '?agent=reader' })).body).toMatchObject({
      result: denied('read'),
    });
  });

  it('refuses other keys, other protocols and other methods', async () => {
    const { key } = await createApiKey(db, {
      ...org.scope,
      name: 'c',
      permissions: ['chat', 'data'],
    });
    expect(await post(create, { key })).toMatchObject({ status: 403 });
    expect(await post(create, { key: 'nope' })).toMatchObject({ status: 401 });
    const headers = { 'mcp-protocol-version': '1999-01-01' };
    expect(await post(create, { headers })).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('2025-06-18') } },
    });
    expect((await fetch(url, { headers: { authorization: `Bearer ${org.key}` } })).status).toBe(
      405,
    );
  });

  it('needs no arguments of a call', async () => {
    const message = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'event_query' },
    };
    expect(await post(message)).toMatchObject({
      status: 200,
      body: { result: { structuredContent: {} } },
    });
  });

  it('answers one JSON document, also to a client that sends no Accept', async () => {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${org.key}`,
        'content-type': 'application/json',
        accept: '*/*',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
    });
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
  });

  it('refuses requests of foreign web pages', async () => {
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const statusFor = async (origin: string) => (await post(ping, { headers: { origin } })).status;
    expect((await post(ping)).status).toBe(200);
    for (const origin of ['https://parley.test', 'https://app.test'])
      expect(await statusFor(origin)).toBe(200);
    for (const origin of [
      'https://evil.test',
      'http://parley.test',
      'https://parley.test.evil.test',
      'https://parley.test:8443',
      'http://localhost:3000',
      'null',
      '',
    ])
      expect([origin, await statusFor(origin)]).toEqual([origin, 403]);
    expect((await post(ping, { headers: { origin: 'https://evil.test' } })).body).toMatchObject({
      code: 'foreign_origin',
    });
  });

  it('accepts every page of this machine while PUBLIC_URL is an address of this machine', () => {
    const isOwn = createOriginCheck('http://localhost:4000', []);
    expect(
      ['http://localhost:3000', 'http://127.0.0.1:6274', 'http://[::1]:1', 'https://localhost'].map(
        isOwn,
      ),
    ).toEqual(Array(4).fill(true));
    expect(
      ['null', '', 'https://evil.test', 'http://localhost.evil.test', 'http://10.0.0.1'].map(isOwn),
    ).toEqual(Array(5).fill(false));
  });
});
