import { randomBytes } from 'node:crypto';
import type { Actor, JsonObject, RoleDefinition } from '@parley/contracts';
import { type Db, createDb, createSecretBox, saveIntegration } from '@parley/db';
import { type GuardedFetch, createGuardedFetch } from '@parley/outbound';
import { type SeededOrganization, openTestDatabase, seedOrganization } from '@parley/testing';
import { createTestTools } from '../testing';
import type { ToolCall, Tools } from '../types';
import { type McpServers, createMcpServers } from './create-mcp-servers';
import { type TestMcpServer, startMcpServer } from '../testing/start-mcp-server';
import { startModernMcpServer } from '../testing/start-modern-mcp-server';

const box = createSecretBox(randomBytes(32).toString('base64'));
const mayCreate: RoleDefinition = {
  slug: 'creator',
  name: 'Creator',
  policies: [
    { resource: 'mcp.tickets.*', actions: ['execute'], effect: 'allow' },
    { resource: 'mcp.tickets.find', actions: ['execute'], effect: 'deny' },
  ],
};

let db: Db;
let org: SeededOrganization;
let tickets: TestMcpServer;
let plain: TestMcpServer;
let guarded: GuardedFetch;
let mcp: McpServers;
let tools: Tools;
let logged: string[];

const configure = (name: string, config: JsonObject, secrets: JsonObject = {}) =>
  saveIntegration(db, box, org.scope, { provider: `mcp.${name}`, config, secrets });

beforeAll(async () => {
  db = await openTestDatabase(createDb);
  tickets = await startMcpServer({ token: 'secret' });
  plain = await startMcpServer({ json: true });
});
afterAll(async () => {
  await Promise.all([tickets.stop(), plain.stop()]);
  await db.close();
});

beforeEach(async () => {
  logged = [];
  for (const server of [tickets, plain]) {
    server.calls.length = 0;
    server.requests.length = 0;
    for (const key of Object.keys(server.behavior))
      delete server.behavior[key as keyof typeof server.behavior];
  }
  org = await seedOrganization(db.pool, { roles: [mayCreate] });
  await configure(
    'tickets',
    { url: tickets.url },
    { apiKey: 'secret', headers: { 'X-Team': 'north' } },
  );
  await configure('plain', { url: plain.url });
  // An integration of another kind is not an MCP server, even though it has a URL.
  await saveIntegration(db, box, org.scope, {
    provider: 'openai',
    config: { url: plain.url },
    secrets: {},
  });
  open([tickets.host, plain.host]);
});
afterEach(async () => {
  mcp.close();
  await guarded.close();
});

function open(allowedPrivateHosts: string[], limits = {}): void {
  guarded = createGuardedFetch({ allowedPrivateHosts });
  const log = { error: (_fields: unknown, message: string) => void logged.push(message) };
  mcp = createMcpServers({ db, box, openGuarded: guarded.open, log, ...limits });
  ({ tools } = createTestTools(db, { log, mcp }));
}

async function reopen(allowedPrivateHosts: string[], limits = {}): Promise<void> {
  mcp.close();
  await guarded.close();
  open(allowedPrivateHosts, limits);
}

const agent: Actor = { type: 'agent', slug: 'helper', roles: [] };
const run = (name: string, args: unknown, more: Partial<ToolCall> = {}) =>
  tools.run(org.scope, {
    name,
    args,
    actor: agent,
    allowed: ['mcp.tickets.*', 'mcp.plain.create_ticket'],
    context: { hops: 0, depth: 0 },
    ...more,
  });
const offered = async (...names: string[]) =>
  (await tools.offer(org.scope, names)).map(({ name }) => name);
const all = ['create_ticket', 'find', 'break', 'sleep'];

describe('an offer', () => {
  it('contains the tools of the servers that a list names, with their schemas', async () => {
    expect(await offered('mcp.tickets.*')).toEqual(all.map((name) => `mcp.tickets.${name}`));
    expect(await offered('mcp.plain.find', 'entity.get', 'mcp.tickets.break')).toEqual([
      'mcp.plain.find',
      'entity.get',
      'mcp.tickets.break',
    ]);
    expect(await offered('mcp.*')).toHaveLength(2 * all.length);
    const [create, find] = await tools.offer(org.scope, [
      'mcp.tickets.create_ticket',
      'mcp.tickets.find',
    ]);
    expect(create).toMatchObject({
      description: 'Creates a ticket',
      parameters: {
        type: 'object',
        properties: { title: { type: 'string' } },
        required: ['title'],
      },
      sideEffects: true,
    });
    expect(find).toMatchObject({ sideEffects: false });
  });

  it('requests the list of a server once and caches it', async () => {
    await Promise.all([
      offered('mcp.tickets.*'),
      offered('mcp.tickets.*'),
      offered('mcp.tickets.find'),
    ]);
    await offered('mcp.tickets.*');
    expect(tickets.requests.filter(({ method }) => method === 'tools/list')).toHaveLength(1);
    expect(tickets.requests[0]!.headers).toMatchObject({
      authorization: 'Bearer secret',
      'x-team': 'north',
    });
  });

  it('leaves out servers that are not configured in the environment, and * names none', async () => {
    expect(await offered('mcp.missing.*', 'mcp.Tickets.*', 'mcp.')).toEqual([]);
    expect((await offered('*')).filter((name) => name.startsWith('mcp.'))).toEqual([]);
    expect(tickets.requests).toEqual([]);
    const elsewhere = { ...org.scope, environment: 'production' as const };
    expect(await tools.offer(elsewhere, ['mcp.tickets.*'])).toEqual([]);
  });

  it('leaves out a server that does not answer, and does not call it again for a while', async () => {
    await reopen([tickets.host, plain.host], { listLimitMs: 1_500 });
    tickets.behavior.isSilent = true;
    expect(await offered('mcp.tickets.*', 'mcp.plain.find')).toEqual(['mcp.plain.find']);
    expect(logged).toEqual(['an MCP server did not list its tools']);
    const asked = tickets.requests.length;
    expect(await offered('mcp.tickets.*')).toEqual([]);
    expect(tickets.requests).toHaveLength(asked);
  });

  it('uses an older list while a server does not answer', async () => {
    await reopen([tickets.host], { listAgeMs: 0 });
    await offered('mcp.tickets.*');
    tickets.behavior.status = 503;
    expect(await offered('mcp.tickets.*')).toHaveLength(all.length);
  });
});

describe('a call', () => {
  it('reaches the server and returns text or data', async () => {
    expect(await run('mcp.tickets.create_ticket', { title: 'Broken' })).toEqual({
      ok: true,
      result: 'created Broken',
    });
    expect(await run('mcp.tickets.find', { query: 'x' })).toEqual({
      ok: true,
      result: { found: ['x'] },
    });
    expect(await run('mcp.plain.create_ticket', { title: 'JSON' })).toEqual({
      ok: true,
      result: 'created JSON',
    });
    expect(tickets.calls).toEqual([
      { name: 'create_ticket', args: { title: 'Broken' } },
      { name: 'find', args: { query: 'x' } },
    ]);
  });

  it.each<[string, string, unknown, object, object]>([
    [
      'outside the list',
      'mcp.plain.find',
      {},
      {},
      { errorType: 'permission_denied', message: 'Tool not available: mcp.plain.find' },
    ],
    ['by * alone', 'mcp.tickets.find', {}, { allowed: ['*'] }, { errorType: 'permission_denied' }],
    [
      'of a server that is not configured',
      'mcp.missing.find',
      {},
      {},
      { errorType: 'tool_not_found' },
    ],
    [
      'that the server does not have',
      'mcp.tickets.missing',
      {},
      {},
      { errorType: 'tool_not_found', message: 'Tool not available: mcp.tickets.missing' },
    ],
    [
      'with invalid arguments',
      'mcp.tickets.create_ticket',
      { title: 1 },
      {},
      { errorType: 'invalid_arguments' },
    ],
    [
      'with arguments that are not an object',
      'mcp.tickets.create_ticket',
      [],
      {},
      { errorType: 'invalid_arguments' },
    ],
  ])('%s does not run', async (_name, name, args, more, expected) => {
    expect(await run(name, args, more)).toMatchObject({ ok: false, ...expected });
    expect([tickets.calls, plain.calls]).toEqual([[], []]);
  });

  it('requires a policy for the name of the tool', async () => {
    const actor: Actor = { ...agent, roles: ['creator'] };
    expect(await run('mcp.tickets.create_ticket', { title: 'a' }, { actor })).toMatchObject({
      ok: true,
    });
    expect(await run('mcp.tickets.find', { query: 'a' }, { actor })).toMatchObject({
      errorType: 'permission_denied',
      message: 'Permission denied: denied by policy',
    });
    expect(await run('mcp.plain.create_ticket', { title: 'a' }, { actor })).toMatchObject({
      message: "Permission denied: cannot perform 'execute' on 'mcp.plain.create_ticket'",
    });
    expect(tickets.calls).toHaveLength(1);
    expect(plain.calls).toEqual([]);
  });

  it('that fails returns the error text of the server', async () => {
    expect(await run('mcp.tickets.break', {})).toEqual({
      ok: false,
      errorType: 'execution_error',
      message: 'the printer is on fire',
    });
  });

  it('is repeated in a new session when the server has lost the old one', async () => {
    await run('mcp.tickets.create_ticket', { title: 'one' });
    tickets.forget();
    expect(await run('mcp.tickets.create_ticket', { title: 'two' })).toMatchObject({ ok: true });
    expect(tickets.calls).toHaveLength(2);
  });

  it('opens one new session for all calls that were in the lost one', async () => {
    await run('mcp.tickets.create_ticket', { title: 'one' });
    tickets.forget();
    tickets.requests.length = 0;
    const titles = ['two', 'three', 'four', 'five', 'six'];
    const results = await Promise.all(
      titles.map((title) => run('mcp.tickets.create_ticket', { title })),
    );
    expect(results.map(({ ok }) => ok)).toEqual(titles.map(() => true));
    expect(tickets.requests.filter(({ method }) => method === 'initialize')).toHaveLength(1);
  });

  it('finds a tool that was added later', async () => {
    await reopen([tickets.host]);
    await offered('mcp.tickets.*');
    tickets.behavior.extraTool = true;
    tickets.forget();
    const later = performance.now() + 11_000;
    jest.spyOn(performance, 'now').mockImplementation(() => later);
    expect(await run('mcp.tickets.late', {})).toMatchObject({ ok: true, result: 'here' });
    jest.restoreAllMocks();
  });

  it('ends at its time limit, and when the caller aborts', async () => {
    await reopen([tickets.host], { callLimitMs: 150 });
    expect(await run('mcp.tickets.sleep', {})).toMatchObject({ errorType: 'timeout' });
    const signal = AbortSignal.timeout(50);
    expect(
      await run('mcp.tickets.sleep', {}, { context: { hops: 0, depth: 0, signal } }),
    ).toMatchObject({ ok: false });
  });

  it.each([
    [{ status: 500 }, 'answered 500'],
    [{ status: 401 }, 'refuses our credentials'],
    [{ status: 302 }, 'answered 302'],
  ])('to a server that answers with %j fails', async (behavior, text) => {
    Object.assign(tickets.behavior, behavior);
    const failed = await run('mcp.tickets.create_ticket', { title: 'a' });
    expect(failed).toMatchObject({
      ok: false,
      errorType: 'execution_error',
      message: expect.stringContaining(text),
    });
  });

  it('uses revision 2026-07-28 where the server has it', async () => {
    const modern = await startModernMcpServer();
    await configure('modern', { url: modern.url });
    await reopen([modern.host]);
    expect(await run('mcp.modern.add', { a: 1 }, { allowed: ['mcp.modern.*'] })).toMatchObject({
      ok: true,
      result: 'sum 2',
    });
    expect(modern.methods).toEqual(['server/discover', 'tools/list', 'tools/call']);
    await modern.stop();
  });

  it('uses a changed configuration', async () => {
    await configure('tickets', { url: tickets.url }, { apiKey: 'wrong' });
    expect(await run('mcp.tickets.find', { query: 'x' })).toMatchObject({
      message: 'The MCP server "tickets" refuses our credentials (401)',
    });
  });
});

describe('the guard', () => {
  it('refuses private addresses that are not listed', async () => {
    await reopen([]);
    expect(await run('mcp.tickets.create_ticket', { title: 'a' })).toMatchObject({
      errorType: 'execution_error',
      message: expect.stringContaining('is not on the public internet'),
    });
    await configure('inside', { url: 'http://169.254.169.254/latest/meta-data' });
    expect(await offered('mcp.tickets.*', 'mcp.inside.*')).toEqual([]);
    expect(tickets.requests).toEqual([]);
  });

  it('follows no redirect to another origin', async () => {
    const { createServer } = await import('node:http');
    const redirecting = createServer((_request, response) =>
      response.writeHead(307, { location: tickets.url }).end(),
    );
    await new Promise<void>((resolve) => redirecting.listen(0, '127.0.0.1', resolve));
    const { port } = redirecting.address() as { port: number };
    await reopen([tickets.host, `127.0.0.1:${port}`]);
    await configure('redirecting', { url: `http://127.0.0.1:${port}/mcp` }, { apiKey: 'secret' });
    const result = await run(
      'mcp.redirecting.create_ticket',
      { title: 'a' },
      { allowed: ['mcp.redirecting.*'] },
    );
    expect(result).toMatchObject({ ok: false, errorType: 'execution_error' });
    expect(tickets.requests).toEqual([]);
    await new Promise((resolve) => {
      redirecting.closeAllConnections();
      redirecting.close(resolve);
    });
  });
});

it('leaves out a server whose configuration cannot be used', async () => {
  await configure('broken', { url: 'file:///etc/passwd' });
  await db.pool.query(
    `update integrations set secrets = '\\x01'::bytea where provider = 'mcp.plain'`,
  );
  expect(await offered('mcp.*')).toEqual(all.map((name) => `mcp.tickets.${name}`));
  expect(logged).toHaveLength(2);
});
