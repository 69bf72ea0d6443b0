import type { JsonObject, Scope } from '@parley/contracts';
import { type Db, createDb } from '@parley/db';
import type { Entities } from '@parley/entities';
import { openTestDatabase, seedOrganization } from '@parley/testing';
import { createTestTools } from '../testing';
import type { Tools } from '../types';
import { type McpCaller, answerMcp } from './answer-mcp';

let db: Db;
let entities: Entities;
let tools: Tools;
let scope: Scope;

const context = { hops: 0, depth: 0 };
const system: McpCaller = { actor: { type: 'system' }, allowed: null, context };
const clerk: McpCaller = {
  actor: { type: 'agent', slug: 'helper', roles: ['clerk'] },
  allowed: ['entity.get', 'entity.create', 'hidden'],
  context,
};

/** Sends a message without any header. */
async function send(body: unknown, caller = system, headers = {}) {
  const response = await answerMcp(tools, scope, caller, {
    body,
    headers,
    signal: new AbortController().signal,
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? null : (JSON.parse(text) as JsonObject) };
}

const ask = async (method: string, params?: JsonObject, caller = system) =>
  (await send({ jsonrpc: '2.0', id: 1, method, ...(params && { params }) }, caller)).body;

/**
 * Sends a request of revision 2026-07-28, which has no `initialize`: each request names the
 * revision and its client.
 */
function askModern(method: string, params: JsonObject = {}, headers = {}) {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const standard = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...headers };
  return send(
    { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } },
    system,
    standard,
  );
}

beforeAll(async () => {
  db = await openTestDatabase(createDb);
  ({ tools, entities } = createTestTools(db));
  ({ scope } = await seedOrganization(db.pool, {
    entityTypes: [{ slug: 'order', name: 'Order', schema: {} }],
    roles: [
      {
        slug: 'clerk',
        name: 'Clerk',
        policies: [{ resource: 'order', actions: ['read'], effect: 'allow' }],
      },
    ],
    tools: [
      { name: 'orders.refund', description: 'Refunds', parameters: {}, handlerCode: 'return 1' },
      {
        name: 'hidden',
        description: 'Hidden',
        parameters: {},
        handlerCode: 'return 1',
        templateOnly: true,
      },
    ],
  }));
});

afterAll(async () => {
  await entities.settled();
  await db.close();
});

describe('a client', () => {
  it.each([
    ['2025-11-25', '2025-11-25'],
    ['2025-06-18', '2025-06-18'],
    ['2025-03-26', '2025-03-26'],
    ['2024-11-05', '2024-11-05'],
    ['2024-10-07', '2024-10-07'],
    ['2099-01-01', '2025-11-25'],
  ])('with protocol version %s is answered with %s', async (protocolVersion, expected) => {
    const params = {
      protocolVersion,
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    };
    expect(await ask('initialize', params)).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: {
        protocolVersion: expected,
        capabilities: { tools: {} },
        serverInfo: { name: 'parley', version: expect.any(String) },
      },
    });
  });

  it('of an unsupported revision is answered with the supported ones', async () => {
    const refused = await send({ jsonrpc: '2.0', id: 1, method: 'ping' }, system, {
      'mcp-protocol-version': '2020-01-01',
    });
    expect(refused).toMatchObject({
      status: 400,
      body: {
        error: {
          code: -32000,
          message: expect.stringContaining(
            '2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05, 2024-10-07',
          ),
        },
      },
    });
  });

  it('receives an answer to a ping, and none to a notification', async () => {
    expect(await ask('ping')).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
    const notification = { jsonrpc: '2.0', method: 'notifications/initialized' };
    expect(await send(notification)).toEqual({ status: 202, body: null });
  });

  it.each<[unknown, number, number]>([
    [{ jsonrpc: '2.0', id: 1, method: 'resources/list' }, -32601, 200],
    [{ jsonrpc: '2.0', id: 1, method: 'constructor' }, -32601, 200],
    [{ jsonrpc: '2.0', id: 1, method: 'initialize' }, -32603, 200],
    [{ jsonrpc: '2.0', id: 1, method: 'tools/call' }, -32602, 200],
    [{ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'nope' } }, -32602, 200],
    [{ jsonrpc: '2.0', id: {}, method: 'ping' }, -32600, 400],
    [{ id: 1, method: 'ping' }, -32600, 400],
    [[], -32600, 400],
    [[{ jsonrpc: '2.0', id: 1, method: 'ping' }], -32600, 400],
    [null, -32600, 400],
    ['ping', -32600, 400],
  ])('receives an error for %j', async (message, code, status) => {
    expect(await send(message)).toMatchObject({
      status,
      body: { jsonrpc: '2.0', error: { code } },
    });
  });

  it('of revision 2026-07-28 is answered without initialize', async () => {
    expect(await askModern('server/discover')).toMatchObject({
      status: 200,
      body: { result: { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } } },
    });
    const call = { name: 'event_query', arguments: {} };
    expect(await askModern('tools/call', call, { 'mcp-name': 'event_query' })).toMatchObject({
      status: 200,
      body: { result: { structuredContent: { hasMore: false } } },
    });
    expect(await askModern('tools/call', call, { 'mcp-name': 'entity_get' })).toMatchObject({
      status: 400,
    });
    expect(
      await askModern('subscriptions/listen', { notifications: { toolsListChanged: true } }),
    ).toMatchObject({
      body: { error: { message: 'Subscription limit reached' } },
    });
  });

  it('does not see the text of an unexpected error', async () => {
    const broken = { ...tools, offer: () => Promise.reject(new Error('secret')) };
    const request = { headers: {}, signal: new AbortController().signal };
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    await expect(answerMcp(broken, scope, system, { ...request, body })).rejects.toThrow('secret');
  });
});

describe('tools/list', () => {
  const names = async (caller?: McpCaller) => {
    const answer = (await ask('tools/list', {}, caller)) as {
      result: { tools: { name: string }[] };
    };
    return answer.result.tools.map(({ name }) => name);
  };

  it('returns the tools of the environment without templateOnly ones', async () => {
    expect(await names()).toEqual(
      expect.arrayContaining(['entity_query', 'event_emit', 'orders_refund']),
    );
    expect(await names()).not.toContain('hidden');
  });

  it('returns the tools that an agent lists', async () => {
    expect(await names(clerk)).toEqual(['entity_get', 'entity_create']);
  });

  it('returns the parameters of a tool, and whether it only reads', async () => {
    const answer = (await ask('tools/list', {}, clerk)) as { result: { tools: JsonObject[] } };
    expect(answer.result.tools[0]).toMatchObject({
      name: 'entity_get',
      title: 'entity.get',
      inputSchema: { type: 'object', required: ['id'] },
      annotations: { readOnlyHint: true },
    });
  });
});

describe('tools/call', () => {
  it('runs a tool and returns its result as text and as data', async () => {
    const created = (await ask('tools/call', {
      name: 'entity_create',
      arguments: { type: 'order', data: { n: 1 } },
    })) as { result: { content: { text: string }[]; structuredContent: JsonObject } };
    const { content, structuredContent } = created.result;
    expect(structuredContent).toMatchObject({ type: 'order', data: { n: 1 } });
    expect(JSON.parse(content[0]!.text)).toEqual(structuredContent);
    const got = await ask(
      'tools/call',
      { name: 'entity_get', arguments: { id: structuredContent.id! } },
      clerk,
    );
    expect(got).toMatchObject({ result: { structuredContent } });
  });

  it('needs no arguments, which are then an empty object', async () => {
    expect(await ask('tools/call', { name: 'event_query' })).toMatchObject({
      result: { structuredContent: { hasMore: false } },
    });
  });

  it('is checked like any other call', async () => {
    const call = { name: 'entity_create', arguments: { type: 'order', data: {} } };
    expect(await ask('tools/call', call, clerk)).toMatchObject({
      result: {
        isError: true,
        content: [
          { type: 'text', text: "Permission denied: cannot perform 'create' on 'order'" },
          { type: 'text', text: 'no policy of the role "clerk" allows it' },
        ],
      },
    });
    expect(
      await ask('tools/call', { name: 'entity_delete', arguments: { id: 'x' } }, clerk),
    ).toMatchObject({
      error: { code: -32602 },
    });
    expect(await ask('tools/call', { name: 'entity_get', arguments: {} }, clerk)).toMatchObject({
      result: { isError: true, content: [{ text: expect.stringContaining('Invalid arguments') }] },
    });
  });
});
