import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject, RoleDefinition } from '@parley/contracts';
import { type Db, createDb } from '@parley/db';
import { createApiKey } from '@parley/identity';
import {
  type ModelServer,
  type ResendServer,
  type SeededOrganization,
  openTestDatabase,
  seedOrganization,
  startModelServer,
  startResendServer,
} from '@parley/testing';
import { builtInToolNames } from '@parley/tools';
import { type ChatUnderTest, startChat } from './chat-under-test';

const allow = (resource: string, ...actions: RoleDefinition['policies'][number]['actions']) => ({
  resource,
  actions,
  effect: 'allow' as const,
});
const only = (slug: string, field: string, value: string) => ({
  slug,
  name: slug,
  policies: [
    allow('order', 'list', 'read'),
    allow('agent.chat', 'execute'),
    allow('orders.peek', 'execute'),
  ],
  scopeRules: [{ entityType: 'order', field: `data.${field}`, operator: 'eq' as const, value }],
  fieldMasks: [{ entityType: 'order', fieldPath: field, maskType: 'hide' as const }],
});
const roles: RoleDefinition[] = [
  { slug: 'nothing', name: 'Nothing', policies: [] },
  { slug: 'everything', name: 'Everything', policies: [allow('*', '*')] },
  {
    slug: 'mailer',
    name: 'Mailer',
    policies: [allow('email.send', 'execute'), allow('agent.chat', 'execute')],
  },
  only('north', 'region', 'north'),
  only('ana', 'owner', 'ana'),
];

let db: Db;
let models: ModelServer;
let resend: ResendServer;
let chat: ChatUnderTest;
let url: string;
let org: SeededOrganization;
let orderId: string;
/** Callback tokens that the executor has received. */
const tokens: string[] = [];
let executor: Server;
const keys: Record<string, string> = {};

beforeAll(async () => {
  db = await openTestDatabase(createDb);
  [models, resend] = await Promise.all([startModelServer(), startResendServer()]);
  executor = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      tokens.push((JSON.parse(body) as { callback: { token: string } }).callback.token);
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify({ result: 'peeked', _meta: { durationMs: 1 } }));
    });
  }).listen(0, '127.0.0.1');
  await once(executor, 'listening');
  chat = await startChat({
    db,
    environment: {
      OPENAI_API_KEY: 'k',
      OPENAI_BASE_URL: models.urls.openai,
      RESEND_API_URL: resend.url,
      RESEND_API_KEY: resend.apiKey,
      EMAIL_FROM: 'Acme <hello@acme.example>',
      EXECUTOR_TOKEN: 'executor',
      TOOL_EXECUTOR_URL: `http://127.0.0.1:${(executor.address() as AddressInfo).port}`,
    },
  });
  ({ url } = chat);
  const ordersOf =
    '{{entity.query({"type": "order", "filters": {"data.email": "{{threadContext.params.email}}"}})}}';
  org = await seedOrganization(db.pool, {
    roles,
    entityTypes: [{ slug: 'order', name: 'Order', schema: {}, searchFields: ['word'] }],
    tools: [{ name: 'orders.peek', description: 'Peeks', parameters: {}, handlerCode: 'return 1' }],
    agents: [
      { slug: 'free', tools: ['*'] },
      { slug: 'asker', tools: ['agent.chat'] },
      { slug: 'bound', tools: ['*'], roles: ['ana'] },
      { slug: 'mailer', tools: ['*'], roles: ['mailer'] },
      {
        slug: 'reciter',
        tools: ['entity.query'],
        systemPrompt: '{{entity.query({"type": "order"}) | "no orders"}}',
      },
      { slug: 'of-email', tools: ['entity.query'], systemPrompt: ordersOf },
      {
        slug: 'by-filters',
        tools: ['entity.query'],
        systemPrompt:
          '{{entity.query({"type": "order", "filters": "{{threadContext.params.email}}"})}}',
      },
    ],
  });
  for (const role of roles.map(({ slug }) => slug)) {
    const { key } = await createApiKey(db, { ...org.scope, name: role, permissions: ['*'], role });
    keys[role] = key;
  }
  for (const [region, owner] of [
    ['north', 'ana'],
    ['north', 'bo'],
    ['south', 'ana'],
    ['south', 'bo'],
  ]) {
    const data = { word: 'order', region: region!, owner: owner!, email: `${owner}@example.com` };
    const made = await chat.runtime.entities.create(org.scope, {
      type: 'order',
      data,
      actor: { type: 'system' },
    });
    if (made.ok) orderId = made.entity.value.id;
  }
});
afterAll(async () => {
  await chat.close();
  await Promise.all([models.stop(), resend.stop()]);
  executor.close();
  await db.close();
});

interface Answer {
  status: number;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read bodies of every shape
  body: any;
}
async function post(path: string, body: object, key = org.key): Promise<Answer> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

/**
 * A model that calls one tool and answers with the tool's result; without a call it
 * recites its prompt.
 */
const play = (name?: string, args: JsonObject = {}) =>
  models.play(({ system, messages }) => {
    const last = messages.at(-1)!;
    if (last.role === 'tool') return { text: last.text };
    return name === undefined
      ? { text: system }
      : { toolCalls: [{ name: name.replaceAll('.', '_'), args }] };
  });

/** How a key reaches a tool. Returns whether permission was denied, and the text of the result. */
const ways: Record<
  string,
  (key: string, tool: string, args: JsonObject, agent?: string) => Promise<[boolean, string]>
> = {
  async 'run-tool'(key, toolName, args, agentSlug) {
    const { status, body } = await post(
      '/v1/run-tool',
      { toolName, args, ...(agentSlug && { agentSlug }) },
      key,
    );
    return [status === 403, JSON.stringify(body.result ?? body.error)];
  },
  async MCP(key, tool, args, agent) {
    const params = { name: tool.replaceAll('.', '_'), arguments: args };
    const path = `/v1/mcp${agent === undefined ? '' : `?agent=${agent}`}`;
    const { body } = await post(path, { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, key);
    const { text } = body.result.content[0];
    return [body.result.isError === true && /^Permission denied|not accessible/.test(text), text];
  },
  async chat(key, tool, args, agent = 'free') {
    play(tool, args);
    const { body } = await post(`/v1/agents/${agent}/chat`, { message: 'go' }, key);
    return [body._executionMeta.permissionDenialCount === 1, body.message];
  },
  async 'chat through another agent'(key, tool, args, agent = 'free') {
    models.play(({ messages }) => {
      const last = messages.at(-1)!;
      if (last.role === 'tool') return { text: last.text };
      const call =
        last.text === 'go'
          ? { name: 'agent_chat', args: { agentSlug: agent, message: 'do' } }
          : null;
      return { toolCalls: [call ?? { name: tool.replaceAll('.', '_'), args }] };
    });
    const { body } = await post('/v1/agents/asker/chat', { message: 'go' }, key);
    return [/permission_denied/.test(body.message), body.message];
  },
  async 'code of a custom tool'(key, tool, args, agent) {
    tokens.length = 0;
    await post(
      '/v1/run-tool',
      { toolName: 'orders.peek', ...(agent && { agentSlug: agent }) },
      key,
    );
    if (tokens.length === 0) return [true, ''];
    const { body } = await post('/internal/tool-calls', { tool, args, depth: 1 }, tokens[0]!);
    return [body.errorType === 'permission_denied', JSON.stringify(body)];
  },
};

/** Arguments with which each built-in tool reaches its check of permissions. */
const argsOf = (tool: string): JsonObject =>
  ({
    'entity.create': { type: 'order', data: {} },
    'entity.get': { id: orderId },
    'entity.update': { id: orderId, data: { x: 1 } },
    'entity.delete': { id: orderId },
    'entity.query': { type: 'order' },
    'entity.search': { type: 'order', query: 'order' },
    'entity.link': { fromId: orderId, relation: 'r', toId: orderId },
    'entity.unlink': { fromId: orderId, relation: 'r', toId: orderId },
    'event.emit': { type: 'order.seen' },
    'agent.chat': { agentSlug: 'reciter', message: 'x' },
    'payment.create': { amount: 1, description: 'x', customerEmail: 'a@b.cl' },
    'payment.getStatus': { entityId: orderId },
    'router.transfer': { agentSlug: 'bound' },
    'web.fetch': { url: 'http://127.0.0.1/' },
    'whatsapp.send': { to: '56911112222', text: 'x' },
    'whatsapp.sendTemplate': { to: '56911112222', template: 'x' },
    'whatsapp.sendInteractive': {
      to: '56911112222',
      text: 'x',
      buttons: [{ id: 'a', title: 'A' }],
    },
    'whatsapp.sendMedia': { to: '56911112222', mediaType: 'image', url: 'https://a.example/b.png' },
    'whatsapp.getConversation': { contact: '56911112222' },
    'whatsapp.getStatus': { id: 'wam_1' },
    'email.send': { to: 'victim@example.com', subject: 's', text: 't' },
  })[tool] ?? {};

const allTools = [...builtInToolNames, 'orders.peek'];

describe.each(Object.keys(ways))('by %s', (way) => {
  const use = ways[way]!;
  it.each(allTools)('a key whose role allows nothing cannot use %s', async (tool) => {
    expect((await use(keys.nothing!, tool, argsOf(tool)))[0]).toBe(true);
    expect((await use(keys.nothing!, tool, argsOf(tool), 'free'))[0]).toBe(true);
  });

  it.each(['entity.get', 'entity.query', 'entity.search', 'event.query', 'orders.peek'])(
    'a key whose role allows everything uses %s (control)',
    async (tool) => {
      expect((await use(keys.everything!, tool, argsOf(tool), 'free'))[0]).toBe(false);
    },
  );

  it('a key with a role sees what its role and those of the agent show', async () => {
    const seen = async (key: string, agent: string) => {
      const [isDenied, text] = await use(key, 'entity.query', { type: 'order' }, agent);
      expect(isDenied).toBe(false);
      return [/north/, /south/, /"owner/, /\bana@/, /\bbo@/].map((pattern) =>
        pattern.test(text.replaceAll('\\', '')),
      );
    };
    // Everything; the rows of Ana without their owner; the rows of the north without
    // their region; both.
    expect(await seen(keys.everything!, 'free')).toEqual([true, true, true, true, true]);
    expect(await seen(keys.everything!, 'bound')).toEqual([true, true, false, true, false]);
    expect(await seen(keys.north!, 'free')).toEqual([false, false, true, true, true]);
    expect(await seen(keys.north!, 'bound')).toEqual([false, false, false, true, false]);
  });
});

describe('a prompt', () => {
  it('quotes only entities that the role of the key shows', async () => {
    play();
    const recited = async (key?: string) =>
      (await post('/v1/agents/reciter/chat', { message: 'x' }, key)).body.message;
    expect(await recited()).toContain('south');
    expect(await recited(keys.ana)).toMatch(/ana@.*ana@/);
    expect(await recited(keys.ana)).not.toContain('bo@');
    expect(await recited(keys.nothing)).toBe('no orders');
  });

  it.each<[string, unknown, number]>([
    ['a string', 'ana@example.com', 2],
    ['an operator', { $ne: 'nobody' }, 0],
    ['an operator with a list', { $nin: [] }, 0],
    ['an operator and a key', { $exists: true, a: 1 }, 0],
    ['an empty object', {}, 0],
    ['an object', { a: 1 }, 0],
    ['a list', ['ana@example.com', 'bo@example.com'], 0],
  ])('takes %s of a caller as a literal of a filter', async (_what, email, count) => {
    play();
    const threadContext = { params: { email } };
    const { body } = await post('/v1/agents/of-email/chat', { message: 'x', threadContext });
    expect(body.message).toMatch(/^{"data"/);
    expect(JSON.parse(body.message).data).toHaveLength(count);
  });

  it('refuses filters that a caller gives as a whole', async () => {
    play();
    const threadContext = { params: { email: {} } };
    const { body } = await post('/v1/agents/by-filters/chat', { message: 'x', threadContext });
    expect(body.message).toBe(
      '[TEMPLATE_ERROR: entity.query failed: threadContext.params.email cannot be all of "filters": name each field]',
    );
  });
});

it('messages over the API reach someone only by a policy, from the configured sender', async () => {
  const mail = { ...argsOf('email.send'), bcc: ['other@example.com'] };
  const denied = 'Permission denied: email.send reaches only the contact of the conversation';
  for (const way of ['run-tool', 'MCP', 'chat', 'chat through another agent'])
    for (const [key, agent] of [
      [keys.mailer!, 'free'],
      [keys.everything!, 'mailer'],
      [org.key, 'mailer'],
    ] as const) {
      const [isDenied, text] = await ways[way]!(key, 'email.send', mail, agent);
      expect([way, isDenied, text]).toEqual([way, true, expect.stringContaining(denied)]);
    }
  // An agent without roles keeps the rights of the system only where the system calls it.
  expect((await ways.chat!(org.key, 'email.send', mail))[1]).toContain(denied);
  expect((await ways['chat through another agent']!(org.key, 'email.send', mail))[1]).toContain(
    denied,
  );
  expect(resend.sent).toEqual([]);
  expect((await ways['run-tool']!(org.key, 'email.send', mail, 'free'))[0]).toBe(false);
  expect((await ways.MCP!(org.key, 'email.send', mail, 'free'))[0]).toBe(false);
  expect(resend.sent.splice(0)).toHaveLength(2);
  const [isDenied, text] = await ways.chat!(keys.everything!, 'email.send', {
    ...mail,
    from: 'boss@bank.example',
  });
  expect([isDenied, text]).toEqual([
    true,
    expect.stringContaining('the sender of e-mails comes from the configuration'),
  ]);
  expect((await ways.chat!(keys.everything!, 'email.send', mail))[0]).toBe(false);
  expect(resend.sent).toMatchObject([
    { body: { from: 'Acme <hello@acme.example>', to: ['victim@example.com'] } },
  ]);
});

it('the model of a turn gets only the earlier turns of callers with the same role', async () => {
  models.play(({ messages }) => ({ text: messages.map(({ text }) => text).join('|') }));
  const say = async (
    message: string,
    key?: string,
    thread: object = { externalThreadId: 'shared' },
  ) => (await post('/v1/agents/free/chat', { message, ...thread }, key)).body;
  const { threadId } = await say('the code is 1234');
  expect((await say('one', keys.north)).message).toBe('one');
  expect((await say('two', keys.north, { threadId })).message).toBe('one|one|two');
  expect((await say('three', keys.ana, { threadId })).message).toBe('three');
  expect((await say('four')).message).toContain('1234');
});

describe('endpoints beyond any role', () => {
  it.each([
    ['/v1/compile-prompt', { slug: 'free' }],
    ['/v1/fire-trigger', { triggerSlug: 'none' }],
  ])('%s refuses a key with a role', async (path, body) => {
    expect(await post(path, body, keys.everything)).toMatchObject({
      status: 403,
      body: { error: 'A key with a role cannot use this endpoint', code: 'key_has_role' },
    });
    expect((await post(path, body)).status).not.toBe(403);
  });
});
