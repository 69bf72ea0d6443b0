import { type IncomingMessage, type Server, createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import type { Actor, Scope } from '@parley/contracts';
import { type Db, createDb } from '@parley/db';
import { createGuardedFetch } from '@parley/outbound';
import { openTestDatabase } from '@parley/testing';
import { createTestTools } from '../testing';
import type { AgentChatRequest, ToolCall, ToolContext, Tools, TransferRequest } from '../types';

const scope: Scope = { organizationId: 'org_1', tenant: 1, environment: 'development' };
const actor: Actor = { type: 'agent', slug: 'helper', roles: [] };
const silent = { error: () => {} };

let db: Db;
let server: Server;
let guarded: ReturnType<typeof createGuardedFetch>;
let tools: Tools;
let asked: AgentChatRequest[];
let transfers: TransferRequest[];
let logged: Record<string, unknown>[];
let received: {
  method?: string;
  url?: string;
  headers: IncomingMessage['headers'];
  body: string;
}[];

const run = (
  name: string,
  args: unknown,
  {
    context,
    ...more
  }: Omit<Partial<ToolCall>, 'context'> & { context?: Partial<ToolContext> } = {},
) =>
  tools.run(scope, {
    name,
    args,
    actor,
    allowed: ['*'],
    context: { hops: 0, depth: 0, ...context },
    ...more,
  });

const base = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

beforeAll(async () => {
  db = await openTestDatabase(createDb);
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      received.push({ method: request.method, url: request.url, headers: request.headers, body });
      const [contentType, content, status] = pages[request.url!] ?? [
        'text/plain',
        'not found',
        404,
      ];
      if (contentType !== '') response.setHeader('content-type', contentType);
      response.writeHead(status ?? 200);
      response.end(content);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  guarded = createGuardedFetch({ allowedPrivateHosts: [new URL(base()).host] });
});

const pages: Record<string, [contentType: string, content: string | Buffer, status?: number]> = {
  '/text': ['text/html; charset=utf-8', '<p>Año</p>'],
  '/latin': ['text/plain; charset=iso-8859-1', Buffer.from('Año', 'latin1')],
  '/json': ['application/vnd.api+json', '{"a":1}'],
  '/long': ['text/plain', 'x'.repeat(60_000)],
  '/nul': ['text/plain', 'a\u0000b'],
  '/image': ['image/png', Buffer.from([0x89, 0x50])],
  '/plain': ['', 'no type'],
  '/bytes': ['', Buffer.from([0xff, 0xfe, 0x00])],
  '/huge': ['text/plain', 'x'.repeat(1_100_000)],
  '/broken': ['application/json', '{"error":"x"}', 500],
};

beforeEach(() => {
  [asked, transfers, logged, received] = [[], [], [], []];
  ({ tools } = createTestTools(db, {
    log: { error: (fields) => logged.push(fields) },
    fetchGuarded: guarded.fetch,
    ports: {
      chatWithAgent: async (_scope, request) => {
        asked.push(request);
        if (request.agentSlug === 'bug')
          throw new Error('select secret from api_keys: syntax error');
        return { ok: true, result: { message: `I am ${request.agentSlug}` } };
      },
      transfer: async (_scope, request) => {
        transfers.push(request);
        return { ok: true, result: { transferred: true } };
      },
    },
  }));
});

afterAll(async () => {
  await guarded.close();
  await new Promise((resolve) => {
    server.closeAllConnections();
    server.close(resolve);
  });
  await db.close();
});

describe('agent.chat', () => {
  const message = 'How much?';

  it('asks the other agent, with the list of agents that wait', async () => {
    const context = {
      agentSlug: 'helper',
      parentAgents: ['front'],
      depth: 1,
      hops: 2,
      root: '17',
      rootExecutionId: '9',
      nesting: 3,
      requestId: 'r',
      params: { a: 1 },
    };
    const result = await run('agent.chat', { agentSlug: 'prices', message }, { context });
    expect(result).toEqual({ ok: true, result: { message: 'I am prices' } });
    expect(asked).toEqual([
      {
        agentSlug: 'prices',
        message,
        actor,
        depth: 2,
        parentAgents: ['front', 'helper'],
        hops: 2,
        root: '17',
        rootExecutionId: '9',
        nesting: 3,
        params: { a: 1 },
        requestId: 'r',
        signal: expect.any(AbortSignal),
      },
    ]);
  });

  it.each([
    ['itself', 'helper', [], 'Agent "helper" is already waiting for this answer (helper → helper)'],
    [
      'the agent that asked it',
      'front',
      ['front'],
      'Agent "front" is already waiting for this answer (front → helper → front)',
    ],
  ])('does not ask %s', async (_name, agentSlug, parentAgents, expected) => {
    const context = { agentSlug: 'helper', parentAgents, depth: parentAgents.length };
    const result = await run('agent.chat', { agentSlug, message }, { context });
    expect(result).toEqual({ ok: false, errorType: 'execution_error', message: expected });
    expect(asked).toEqual([]);
  });

  it('is possible at a depth of at most 3', async () => {
    const at = (depth: number) =>
      run('agent.chat', { agentSlug: 'next', message }, { context: { depth } });
    expect(await at(2)).toMatchObject({ ok: true });
    expect(await at(3)).toMatchObject({ ok: false, errorType: 'execution_error' });
    expect(asked.map(({ depth }) => depth)).toEqual([3]);
  });
});

describe('router.transfer', () => {
  const context = { threadId: 'thr_1', executionId: '7', agentSlug: 'helper' };

  it('transfers the conversation', async () => {
    const args = { agentSlug: 'sales', reason: 'interested in buying' };
    expect(await run('router.transfer', args, { context })).toMatchObject({ ok: true });
    expect(transfers).toEqual([
      {
        threadId: 'thr_1',
        executionId: '7',
        fromAgentSlug: 'helper',
        toAgentSlug: 'sales',
        reason: 'interested in buying',
      },
    ]);
  });

  it.each([
    ['to itself', 'helper', context],
    ['outside a conversation', 'sales', { agentSlug: 'helper' }],
    ['without an agent', 'sales', { threadId: 'thr_1' }],
  ])('does not transfer %s', async (_name, agentSlug, context) => {
    const result = await run('router.transfer', { agentSlug }, { context });
    expect(result).toMatchObject({ ok: false, errorType: 'execution_error' });
    expect(transfers).toEqual([]);
  });
});

describe('web.fetch', () => {
  it('sends the given request and returns text', async () => {
    const args = {
      url: `${base()}/text`,
      method: 'POST',
      headers: { 'x-a': 'b' },
      body: '{"q":1}',
    };
    expect(await run('web.fetch', args)).toEqual({
      ok: true,
      result: {
        status: 200,
        url: args.url,
        contentType: 'text/html; charset=utf-8',
        body: '<p>Año</p>',
        truncated: false,
      },
    });
    expect(received).toMatchObject([
      { method: 'POST', url: '/text', headers: { 'x-a': 'b' }, body: '{"q":1}' },
    ]);
  });

  it.each([
    ['/latin', { body: 'Año' }],
    ['/json', { body: '{"a":1}' }],
    ['/plain', { body: 'no type' }],
    ['/nul', { body: 'ab' }],
    ['/broken', { status: 500, body: '{"error":"x"}' }],
    ['/long', { body: 'x'.repeat(50_000), truncated: true }],
  ])('reads %s', async (path, expected) => {
    expect(await run('web.fetch', { url: base() + path })).toMatchObject({
      ok: true,
      result: expected,
    });
  });

  it.each([
    ['/image', 'web.fetch reads only text, and this is image/png'],
    ['/bytes', 'web.fetch reads only text, and this is binary'],
    ['/huge', expect.stringMatching(/^web.fetch failed: /)],
  ])('does not read %s', async (path, message) => {
    const result = await run('web.fetch', { url: base() + path });
    expect(result).toEqual({ ok: false, errorType: 'execution_error', message });
  });

  it.each([
    'http://169.254.169.254/latest/meta-data/',
    'http://localhost:5432/',
    'file:///etc/passwd',
    'http://[::1]/',
  ])('does not reach %s', async (url) => {
    expect(await run('web.fetch', { url })).toMatchObject({
      ok: false,
      errorType: 'execution_error',
    });
  });

  it.each([
    [{}, /^Invalid arguments for web.fetch: url: /],
    [{ url: 'http://a.example', metod: 'GET' }, /metod/],
    [{ url: 'http://a.example', method: 'TRACE' }, /method/],
  ])('refuses arguments %j', async (args, message) => {
    const expected = {
      ok: false,
      errorType: 'invalid_arguments',
      message: expect.stringMatching(message),
    };
    expect(await run('web.fetch', args)).toEqual(expected);
  });
});

describe('an unexpected error inside a tool', () => {
  it('is logged, and not shown to the caller', async () => {
    const result = await run(
      'agent.chat',
      { agentSlug: 'bug', message: 'x' },
      { context: { requestId: 'req_9' } },
    );
    expect(result).toEqual({
      ok: false,
      errorType: 'execution_error',
      message: 'agent.chat failed unexpectedly',
    });
    expect(logged).toMatchObject([
      { tool: 'agent.chat', requestId: 'req_9', organizationId: 'org_1' },
    ]);
    expect((logged[0]!.err as Error).message).toContain('syntax error');
  });

  it('differs from an unavailable database', async () => {
    const closing = createTcpServer((socket) => socket.end()).listen(0, '127.0.0.1');
    await new Promise((resolve) => closing.once('listening', resolve));
    const { port } = closing.address() as AddressInfo;
    const unavailable = createDb({ databaseUrl: `postgresql://user@127.0.0.1:${port}/none` });
    ({ tools } = createTestTools(unavailable, { log: silent }));
    expect(await run('custom.tool', {})).toEqual({
      ok: false,
      errorType: 'execution_error',
      message: 'The data store is not available now, try again later',
      isUnavailable: true,
      isNotDone: true,
    });
    // A tool with effects outside the database may have had some of them.
    const chatWithAgent = () => unavailable.pool.query('select 1') as never;
    ({ tools } = createTestTools(db, { log: silent, ports: { chatWithAgent } }));
    const begun = await run('agent.chat', { agentSlug: 'prices', message: 'x' });
    expect(begun).toMatchObject({ ok: false, isUnavailable: true });
    expect(begun).not.toHaveProperty('isNotDone');
    await unavailable.close();
    closing.close();
  });
});

describe('a tool without its port', () => {
  it('does not exist', async () => {
    ({ tools } = createTestTools(db));
    const message = 'Tool not available: web.fetch';
    expect(await run('web.fetch', {})).toEqual({ ok: false, errorType: 'tool_not_found', message });
    const offered = (await tools.offer(scope, ['*'])).map(({ name }) => name);
    expect(offered).not.toEqual(expect.arrayContaining(['agent.chat']));
  });
});
