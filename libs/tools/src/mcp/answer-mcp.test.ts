import type { JsonObject, Scope } from '@parley/contracts';
import { type Db, createDb } from '@parley/db';
import { type Entities, createEntities } from '@parley/entities';
import { openTestDatabase, seedOrganization } from '@parley/testing';
import { createTools } from '../create-tools';
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

const ask = (method: string, params?: JsonObject, caller = system) =>
  answerMcp(tools, scope, caller, { jsonrpc: '2.0', id: 1, method, ...(params && { params }) });

beforeAll(async () => {
  db = await openTestDatabase(createDb);
  entities = createEntities({ db });
  tools = createTools({ db, entities, log: { error: (fields) => console.error(fields) }, ports: {} });
  ({ scope } = await seedOrganization(db.pool, {
    entityTypes: [{ slug: 'order', name: 'Order', schema: {} }],
    roles: [{ slug: 'clerk', name: 'Clerk', policies: [{ resource: 'order', actions: ['read'], effect: 'allow' }] }],
    tools: [
      { name: 'orders.refund', description: 'Refunds', parameters: {}, handlerCode: 'return 1' },
      { name: 'hidden', description: 'Hidden', parameters: {}, handlerCode: 'return 1', templateOnly: true },
    ],
  }));
});

afterAll(async () => {
  await entities.settled();
  await db.close();
});

describe('a client', () => {
  it.each([
    ['2025-06-18', '2025-06-18'],
    ['2025-03-26', '2025-03-26'],
    ['2099-01-01', '2025-06-18'],
  ])('with protocol version %s is answered with %s', async (protocolVersion, expected) => {
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } };
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

  it('receives an answer to a ping, and none to a notification', async () => {
    expect(await ask('ping')).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
    const notification = { jsonrpc: '2.0', method: 'notifications/initialized' };
    expect(await answerMcp(tools, scope, system, notification)).toBeNull();
  });

  it.each<[unknown, number]>([
    [{ jsonrpc: '2.0', id: 1, method: 'resources/list' }, -32601],
    [{ jsonrpc: '2.0', id: 1, method: 'constructor' }, -32601],
    [{ jsonrpc: '2.0', id: 1, method: 'initialize' }, -32602],
    [{ jsonrpc: '2.0', id: 1, method: 'tools/call' }, -32602],
    [{ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'nope' } }, -32602],
    [{ jsonrpc: '2.0', id: {}, method: 'ping' }, -32600],
    [{ id: 1, method: 'ping' }, -32600],
    [[], -32600],
    [null, -32600],
    ['ping', -32600],
  ])('receives an error for %j', async (message, code) => {
    expect(await answerMcp(tools, scope, system, message)).toMatchObject({ jsonrpc: '2.0', error: { code } });
  });
});

describe('tools/list', () => {
  const names = async (caller?: McpCaller) => {
    const answer = (await ask('tools/list', {}, caller)) as { result: { tools: { name: string }[] } };
    return answer.result.tools.map(({ name }) => name);
  };

  it('returns the tools of the environment without templateOnly ones', async () => {
    expect(await names()).toEqual(expect.arrayContaining(['entity_query', 'event_emit', 'orders_refund']));
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
    const got = await ask('tools/call', { name: 'entity_get', arguments: { id: structuredContent.id! } }, clerk);
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
        content: [{ type: 'text', text: "Permission denied: cannot perform 'create' on 'order'" }],
      },
    });
    expect(await ask('tools/call', { name: 'entity_delete', arguments: { id: 'x' } }, clerk)).toMatchObject({
      error: { code: -32602 },
    });
    expect(await ask('tools/call', { name: 'entity_get', arguments: {} }, clerk)).toMatchObject({
      result: { isError: true, content: [{ text: expect.stringContaining('Invalid arguments') }] },
    });
  });
});
