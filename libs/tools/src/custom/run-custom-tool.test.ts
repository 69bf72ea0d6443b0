import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type Actor,
  type JsonObject,
  type Scope,
  type ToolDefinition,
  executeBodySchema,
} from '@parley/contracts';
import { type Db, createDb, createSecretBox, prismaOf } from '@parley/db';
import { openTestDatabase } from '@parley/testing';
import { createTestTools } from '../testing';
import type { CallbackGrant, ToolCall, ToolContext, Tools } from '../types';
import { type ExecutorClient, createExecutorClient } from './executor-client';
import { deleteToolSecret, setToolSecret } from './tool-secrets';

const scope: Scope = { organizationId: 'org_1', tenant: 1, environment: 'development' };
const agent: Actor = { type: 'agent', slug: 'helper', roles: [], userId: 'u1' };

/** A server with the executor's protocol, whose answers a test sets. */
async function fakeExecutor() {
  const received: { body: JsonObject; authorization?: string; requestId?: string }[] = [];
  const state = {
    status: 200,
    answer: { result: 'ok', _meta: { durationMs: 1 } } as unknown,
    delayMs: 0,
  };
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += chunk));
    request.on('end', () => {
      const body = JSON.parse(text);
      executeBodySchema.parse(body);
      const { authorization, 'x-request-id': requestId } = request.headers;
      received.push({ body, authorization, requestId: requestId as string });
      setTimeout(() => {
        response.writeHead(request.url === '/execute' ? state.status : 404, {
          'content-type': 'application/json',
        });
        response.end(
          typeof state.answer === 'string' ? state.answer : JSON.stringify(state.answer),
        );
      }, state.delayMs);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () =>
    new Promise((resolve) => {
      server.closeAllConnections();
      server.close(resolve);
    });
  return { url, received, state, close };
}

let db: Db;
let executor: Awaited<ReturnType<typeof fakeExecutor>>;
let client: ExecutorClient;
let tools: Tools;
let minted: CallbackGrant[];
let logged: string[];
const box = createSecretBox(randomBytes(32).toString('base64'));

const refund: ToolDefinition = {
  name: 'orders.refund',
  description: 'Refunds an order',
  parameters: {
    properties: { orderId: { type: 'string' }, cents: { type: 'integer', minimum: 1 } },
    required: ['orderId'],
    additionalProperties: false,
  },
  handlerCode: 'return args.orderId',
  allowedHosts: ['api.example.com'],
};

const store = (definition: ToolDefinition, environment: Scope['environment'] = 'development') =>
  prismaOf(db).tool.create({
    data: {
      id: `${environment}-${definition.name}`,
      tenant: scope.tenant,
      environment,
      name: definition.name,
      definition: definition as unknown as JsonObject,
    },
  });

const run = (
  name: string,
  args: unknown,
  more: Omit<Partial<ToolCall>, 'context'> & { context?: Partial<ToolContext> } = {},
) =>
  tools.run(scope, {
    name,
    args,
    actor: agent,
    allowed: ['orders.*', 'note', 'broken'],
    ...more,
    context: { hops: 0, depth: 0, ...more.context },
  });

beforeAll(async () => {
  db = await openTestDatabase(createDb);
  executor = await fakeExecutor();
  client = createExecutorClient({ url: `${executor.url}/`, token: 'executor-secret' });
  await store(refund);
  await store({ ...refund, name: 'orders.lookup', templateOnly: true, allowedHosts: undefined });
  await store({ ...refund, name: 'note', parameters: { type: 'object' } });
  await store({
    ...refund,
    name: 'broken',
    parameters: { properties: { a: { $ref: 'https://example.com/s' } } },
  });
  await store({ ...refund, name: 'orders.live' }, 'production');
});

beforeEach(() => {
  minted = [];
  logged = [];
  executor.received.length = 0;
  Object.assign(executor.state, {
    status: 200,
    answer: { result: 'ok', _meta: { durationMs: 1 } },
    delayMs: 0,
  });
  ({ tools } = createTestTools(db, {
    log: { error: (_fields, message) => logged.push(message) },
    executor: client,
    box,
    ports: { mintCallbackToken: (_scope, grant) => `token-${minted.push(grant)}` },
  }));
});

afterAll(async () => {
  await client.close();
  await executor.close();
  await db.close();
});

describe('a call of a custom tool', () => {
  it('reaches the executor with the handler, checked arguments, hosts, context and a token for its caller', async () => {
    executor.state.answer = { result: { refunded: true }, _meta: { durationMs: 3 } };
    const context = {
      requestId: 'req_1',
      threadId: 'thr_1',
      agentSlug: 'helper',
      channel: 'api',
      params: { plan: 'x' },
    };
    const args = { orderId: 'o1', cents: 5 };
    expect(await run('orders.refund', args, { context })).toEqual({
      ok: true,
      result: { refunded: true },
    });
    expect(executor.received).toEqual([
      {
        authorization: 'Bearer executor-secret',
        requestId: 'req_1',
        body: {
          handlerCode: 'return args.orderId',
          args,
          context: {
            organizationId: 'org_1',
            environment: 'development',
            actor: { type: 'agent', userId: 'u1' },
            threadId: 'thr_1',
            agentSlug: 'helper',
            channel: 'api',
            params: { plan: 'x' },
          },
          allowedHosts: ['api.example.com'],
          timeoutMs: 29_000,
          callback: { token: 'token-1', depth: 0 },
        },
      },
    ]);
    expect(minted).toEqual([
      {
        actor: agent,
        allowed: ['orders.*', 'note', 'broken'],
        context: { ...context, hops: 0, depth: 0, nesting: 1 },
        expiresInMs: 30_000,
      },
    ]);
  });

  it.each([
    [{}, "must have required property 'orderId'"],
    [{ orderId: 7 }, 'orderId must be string'],
    [{ orderId: 'o', extra: 1 }, 'must not have "extra"'],
    [{ orderId: 'o', cents: 1.5 }, 'cents must be integer'],
  ])('with arguments %j does not reach the executor', async (args, problem) => {
    const message = `Invalid arguments for orders.refund: ${problem}`;
    expect(await run('orders.refund', args)).toEqual({
      ok: false,
      errorType: 'invalid_arguments',
      message,
    });
    expect(executor.received).toEqual([]);
  });

  it.each(['text', [[1]]])('with %j as arguments does not reach the executor', async (args) => {
    const message = 'Invalid arguments: expected a JSON object';
    expect(await run('note', args)).toEqual({ ok: false, errorType: 'invalid_arguments', message });
    expect(executor.received).toEqual([]);
  });

  it('does not reach the executor when its stored parameters cannot be used', async () => {
    const message = 'The parameters of broken are not usable';
    expect(await run('broken', { a: 1 })).toEqual({
      ok: false,
      errorType: 'execution_error',
      message,
    });
    expect(executor.received).toEqual([]);
  });

  it('uses the parameters of the current revision', async () => {
    await store({ ...refund, name: 'orders.changing' });
    expect(await run('orders.changing', {})).toMatchObject({ errorType: 'invalid_arguments' });
    const definition = { ...refund, parameters: {} } as unknown as JsonObject;
    await prismaOf(db).tool.updateMany({
      where: { name: 'orders.changing' },
      data: { revision: 2, definition },
    });
    expect(await run('orders.changing', {})).toEqual({ ok: true, result: 'ok' });
  });

  it.each<[string, number, unknown, { errorType: string; message: string; isNotDone?: true }]>([
    [
      'threw',
      200,
      { error: 'No such order', line: 3, _meta: { durationMs: 1 } },
      { errorType: 'execution_error', message: 'No such order (line 3)' },
    ],
    [
      'threw without a line',
      200,
      { error: 'Oh', _meta: { durationMs: 1 } },
      { errorType: 'execution_error', message: 'Oh' },
    ],
    [
      'took too long',
      500,
      { error: 'Execution time exceeded' },
      { errorType: 'timeout', message: 'Execution time exceeded' },
    ],
    [
      'found no free process',
      503,
      { error: 'busy' },
      {
        errorType: 'execution_error',
        message: 'The tool executor is busy, try again',
        isNotDone: true,
      },
    ],
    [
      'found the share of its organization in use',
      503,
      { error: 'share', code: 'executor_share_exceeded' },
      {
        errorType: 'execution_error',
        message: "The organization's share of the tool executor is in use, try again",
        isNotDone: true,
      },
    ],
    [
      'was refused',
      401,
      { error: 'Unauthorized' },
      { errorType: 'execution_error', message: 'The tool executor is not available' },
    ],
    [
      'got an invalid answer',
      200,
      '<html>',
      { errorType: 'execution_error', message: 'The tool executor is not available' },
    ],
  ])('whose handler %s', async (_name, status, answer, expected) => {
    Object.assign(executor.state, { status, answer });
    expect(await run('note', {})).toEqual({ ok: false, ...expected });
  });

  it.each([
    [{ result: 1 }, { ok: true, result: 1 }],
    [{ error: 'Oh' }, { ok: false, errorType: 'execution_error', message: 'Oh' }],
  ])('returns the console output of the code, with %j', async (answer, expected) => {
    const logs = [{ level: 'warn', message: 'stock is low' }];
    executor.state.answer = { ...answer, logs, _meta: { durationMs: 1 } };
    expect(await run('note', {})).toEqual({ ...expected, logs });
  });

  it('returns null when the handler returns nothing', async () => {
    executor.state.answer = { result: null, _meta: { durationMs: 1 } };
    expect(await run('note', {})).toEqual({ ok: true, result: null });
  });

  it('reports that the executor cannot be reached', async () => {
    const unreachable = createExecutorClient({ url: 'http://127.0.0.1:1', token: 'x' });
    const log = { error: (_fields: unknown, message: string) => logged.push(message) };
    ({ tools } = createTestTools(db, { log, executor: unreachable }));
    const message = 'The tool executor is not available';
    expect(await run('note', {})).toEqual({
      ok: false,
      errorType: 'execution_error',
      message,
      isNotDone: true,
    });
    expect(logged).toEqual(['tool executor failed']);
    await unreachable.close();
  });

  it('does not report that nothing was done when the connection breaks during a call', async () => {
    const breaks = createServer((request) => request.socket.destroy()).listen(0, '127.0.0.1');
    await once(breaks, 'listening');
    const broken = createExecutorClient({
      url: `http://127.0.0.1:${(breaks.address() as AddressInfo).port}`,
      token: 'x',
    });
    ({ tools } = createTestTools(db, { log: { error: () => {} }, executor: broken }));
    const message = 'The tool executor is not available';
    expect(await run('note', {})).toEqual({ ok: false, errorType: 'execution_error', message });
    await broken.close();
    breaks.close();
  });

  it('ends at the time limit, and when the caller aborts', async () => {
    executor.state.delayMs = 1_000;
    ({ tools } = createTestTools(db, {
      log: { error: () => {} },
      executor: client,
      timeLimitMs: 60,
    }));
    const message = 'note did not finish within 0.06 s';
    expect(await run('note', {})).toEqual({ ok: false, errorType: 'timeout', message });
    const signal = AbortSignal.timeout(20);
    const aborted = { ok: false, errorType: 'execution_error', message: 'The call was aborted' };
    expect(await run('note', {}, { context: { signal } })).toEqual(aborted);
    expect(await run('note', {}, { context: { signal } })).toEqual(aborted);
    const caller = new AbortController();
    const checked = run('note', {}, { context: { signal: caller.signal } });
    caller.abort(); // after the first check of the signal, before the call
    expect(await checked).toEqual(aborted);
  });

  it('is refused where custom tools call each other more than 5 deep', async () => {
    const message = 'Custom tools may call each other at most 5 deep';
    expect(await run('note', {}, { context: { nesting: 4 } })).toMatchObject({ ok: true });
    expect(await run('note', {}, { context: { nesting: 5 } })).toEqual({
      ok: false,
      errorType: 'execution_error',
      message,
    });
  });
});

describe('the secrets of a tool', () => {
  const needs = (name: string) => ({ ...refund, name: `keys.${name}`, parameters: {} });
  const set = (name: string, value: string) => setToolSecret(db, box, scope, { name, value });
  const anyone = { allowed: null };
  const secretsOfCalls = () => executor.received.map(({ body }) => body.secrets);

  it('are sent to the executor for the tool that declares them, each call with the current value', async () => {
    await store({ ...needs('ship'), secrets: ['CARRIER_KEY'] });
    for (const name of ['CARRIER_KEY', 'UNRELATED']) await set(name, 'first');
    await run('keys.ship', {}, anyone);
    await set('CARRIER_KEY', 'second');
    await run('keys.ship', {}, anyone);
    await run('note', {}, anyone);
    expect(secretsOfCalls()).toEqual([
      { CARRIER_KEY: 'first' },
      { CARRIER_KEY: 'second' },
      undefined,
    ]);
    expect(JSON.stringify(minted)).not.toMatch(/first|second/);
  });

  it('are not read before the call is permitted and its arguments are checked', async () => {
    await store({ ...refund, name: 'keys.strict', secrets: ['NOT_SET'] });
    expect(await run('keys.strict', {}, anyone)).toMatchObject({ errorType: 'invalid_arguments' });
    expect(await run('keys.strict', { orderId: 'o' }, { allowed: [] })).toMatchObject({
      errorType: 'permission_denied',
    });
  });

  it('are named with the command that sets them while they are missing or cannot be decrypted', async () => {
    await store({ ...needs('lost'), secrets: ['LOST_KEY', 'LOST_URL'] });
    const fails = (message: string, reason?: string) => ({
      ok: false,
      errorType: 'execution_error',
      message,
      ...(reason && { reason }),
    });
    await set('LOST_URL', 'http://a');
    expect(await run('keys.lost', {}, anyone)).toEqual(
      fails(
        'keys.lost needs a secret that is not set',
        'LOST_KEY is not set in development. Set it with: parley tool-secrets set LOST_KEY -',
      ),
    );
    const calledBy = { type: 'user' as const, callerId: 'key', roles: ['clerk'] };
    const actor = { type: 'tool' as const, name: 't', runAs: 'system', roles: [], calledBy };
    expect(await run('keys.lost', {}, { ...anyone, actor })).toEqual(
      fails('keys.lost needs a secret that is not set'),
    );
    await setToolSecret(db, createSecretBox(randomBytes(32).toString('base64')), scope, {
      name: 'LOST_KEY',
      value: 'sealed by another key',
    });
    expect(await run('keys.lost', {}, anyone)).toEqual(
      fails(
        'keys.lost needs a secret that cannot be decrypted',
        'no key in SECRETS_KEY decrypts LOST_KEY. Add that key, or set it again with: parley tool-secrets set LOST_KEY -',
      ),
    );
    for (const name of ['LOST_KEY', 'LOST_URL']) await deleteToolSecret(db, scope, name);
    expect((await run('keys.lost', {}, anyone)) as object).toMatchObject({
      reason: expect.stringContaining('LOST_KEY, LOST_URL is not set'),
    });
    expect(executor.received).toEqual([]);
  });
});

describe('the list', () => {
  const notAvailable = (name: string, errorType: string) => ({
    ok: false,
    errorType,
    message: `Tool not available: ${name}`,
    ...(errorType === 'permission_denied' && { reason: expect.any(String) }),
  });

  it.each([
    [['note'], 'orders.refund', 'permission_denied'],
    [['orders.refund'], 'note', 'permission_denied'],
    [[], 'note', 'permission_denied'],
    [['orders'], 'orders.refund', 'permission_denied'],
    [['order.*'], 'orders.refund', 'permission_denied'],
    [['orders.refun'], 'orders.refund', 'permission_denied'],
    [['Orders.Refund'], 'orders.refund', 'permission_denied'],
    [['orders.live'], 'orders.live', 'tool_not_found'],
    [['*'], 'missing', 'tool_not_found'],
    [['*'], 'orders.*', 'tool_not_found'],
    [['*'], 'constructor', 'tool_not_found'],
    [['*'], `x\u0000'; drop table tools; --`, 'tool_not_found'],
  ])('%j does not allow %j', async (allowed, name, errorType) => {
    expect(await run(name, { orderId: 'o' }, { allowed })).toEqual(notAvailable(name, errorType));
    expect(executor.received).toEqual([]);
  });

  it.each([[['orders.refund']], [['orders.*']], [['*']], [null]])(
    '%j allows orders.refund',
    async (allowed) => {
      expect(await run('orders.refund', { orderId: 'o' }, { allowed })).toEqual({
        ok: true,
        result: 'ok',
      });
    },
  );

  it('allows templateOnly tools to templates and the system, and not to models', async () => {
    const args = { orderId: 'o' };
    expect(await run('orders.lookup', args)).toEqual(
      notAvailable('orders.lookup', 'permission_denied'),
    );
    expect(await run('orders.lookup', args, { context: { via: 'template' } })).toMatchObject({
      ok: true,
    });
    expect(
      await run('orders.lookup', args, { allowed: null, actor: { type: 'system' } }),
    ).toMatchObject({ ok: true });
    expect(
      await run('orders.lookup', args, { allowed: ['note'], context: { via: 'template' } }),
    ).toEqual(notAvailable('orders.lookup', 'permission_denied'));
    // Calls that the tool makes in turn do not count as calls of a template.
    expect(minted.map(({ context }) => 'via' in context)).toEqual([false, false]);
  });
});

describe('an offer', () => {
  it('contains the tools that exist and may be shown, once each, in the order of the list', async () => {
    const offer = await tools.offer(scope, [
      'note',
      'missing',
      'orders.*',
      'orders.refund',
      'orders.live',
      'note',
    ]);
    expect(offer.map(({ name }) => name)).toEqual(['note', 'orders.changing', 'orders.refund']);
    expect(offer[2]).toEqual({
      name: 'orders.refund',
      description: 'Refunds an order',
      parameters: { ...refund.parameters, type: 'object' },
      sideEffects: true,
    });
    expect(offer[0]!.parameters).toEqual({ type: 'object', properties: {} });
  });

  it('is empty for an empty list', async () => {
    expect(await tools.offer(scope, [])).toEqual([]);
  });
});

describe('a description', () => {
  it('is returned for a tool of the environment, and null for any other name', async () => {
    expect(await tools.describe(scope, 'orders.lookup')).toMatchObject({
      isBuiltin: false,
      templateOnly: true,
    });
    expect(await tools.describe(scope, 'missing')).toBeNull();
    expect(
      await tools.describe({ ...scope, organizationId: 'org_2', tenant: 2 }, 'note'),
    ).toBeNull();
  });
});
