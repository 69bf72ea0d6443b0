import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Permission } from '@parley/contracts';
import { type TestRuntime, startRuntime } from '@parley/runtime/testing';
import { seedOrganization } from '@parley/testing';
import { createChatApp } from '../../chat/src/app';
import { openPseudoTerminal } from '../../e2e/src/pseudo-terminal';
import { bundle } from './testing/built-command';
import { type Cli, openCli } from './testing/run-command';
import { type ManageUnderTest, startManage } from './testing/manage-under-test';

let cli: Cli;
beforeAll(() => void (cli = openCli()));
afterAll(() => cli.remove());

describe('chat', () => {
  const requests: { url: string; authorization?: string; body: Record<string, unknown> }[] = [];
  let server: Server;
  let env: Record<string, string>;

  /**
   * A stand-in of POST /v1/agents/:slug/chat (docs/reference/chat.md#endpoints), so that tests can
   * compare exact texts.
   */
  beforeAll(async () => {
    server = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk: Buffer) => (text += chunk.toString()));
      request.on('end', () => {
        const body = JSON.parse(text);
        requests.push({ url: request.url!, authorization: request.headers.authorization, body });
        const failing = body.message === 'fail';
        const failure = { error: 'Agent not found', code: 'agent_not_found', requestId: 'req-1' };
        response.writeHead(failing ? 500 : 200, { 'Content-Type': 'application/json' });
        const answer = body.message === 'taken over' ? takenOver : answerTo(body.message);
        response.end(JSON.stringify(failing ? failure : answer));
      });
    }).listen(0, '127.0.0.1');
    await new Promise((listening) => server.once('listening', listening));
    env = {
      PARLEY_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      PARLEY_API_KEY: 'sk_dev_x',
    };
  });
  afterAll(() => server.close());
  beforeEach(() => void requests.splice(0));

  const takenOver = {
    threadId: 'thread_1',
    message: '',
    usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
  };
  const answerTo = (message: string) => ({
    threadId: 'thread_1',
    message: `You said ${message}`,
    usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 },
    _executionMeta: {
      iterationCount: 2,
      model: 'offline/scripted',
      durationMs: 12.3,
      toolCallSummary: [
        { name: 'entity.query', durationMs: 4.6, status: 'success' },
        {
          name: 'entity.get',
          durationMs: 1,
          status: 'error',
          errorType: 'not_found',
          errorMessage: 'Entity not found',
        },
      ],
      errorCount: 1,
      permissionDenialCount: 0,
    },
  });

  test('a single message prints the reply on stdout, tool calls and the thread on stderr', async () => {
    const run = await cli.parley(
      ['chat', 'helper', 'Hello', '--param', 'plan=gold', '--param', 'seats=3'],
      { env },
    );
    expect(run).toEqual({
      exitCode: 0,
      stdout: 'You said Hello\n',
      stderr: [
        '  entity.query  ok  5 ms',
        '  entity.get  not_found: Entity not found  1 ms',
        '  thread thread_1, offline/scripted, 3 + 4 tokens, 12 ms\n',
      ].join('\n'),
    });
    expect(requests).toEqual([
      {
        url: '/v1/agents/helper/chat',
        authorization: 'Bearer sk_dev_x',
        body: { message: 'Hello', threadContext: { params: { plan: 'gold', seats: 3 } } },
      },
    ]);
  });

  test('a message to a thread that a person has taken over prints a note instead of an empty line', async () => {
    const run = await cli.parley(['chat', 'helper', 'taken over'], { env });
    expect(run).toMatchObject({ exitCode: 0, stdout: '' });
    expect(run.stderr).toContain('stored, not answered: a person has taken this thread over');
  });

  test('a conversation continues its thread, also after an error', async () => {
    const run = await cli.parley(['chat', 'helper', '--external-thread', 'web:1'], {
      env,
      input: 'one\n\nfail\ntwo\n',
    });
    expect(run.exitCode).toBe(1);
    expect(run.stdout).toBe('You said one\nYou said two\n');
    expect(run.stderr).toContain('error: Agent not found (agent_not_found, request req-1)\n');
    expect(requests.map(({ body }) => body)).toEqual([
      { message: 'one', externalThreadId: 'web:1' },
      { message: 'fail', threadId: 'thread_1' },
      { message: 'two', threadId: 'thread_1' },
    ]);
  });

  test('--json prints each response as one line, and a failure has status 1', async () => {
    expect(
      JSON.parse(await cli.succeed(['chat', 'helper', 'Hi', '--json', '--thread', 't'], { env })),
    ).toEqual(answerTo('Hi'));
    expect(requests[0]!.body).toEqual({ message: 'Hi', threadId: 't' });
    expect(await cli.parley(['chat', 'helper', 'fail'], { env })).toMatchObject({
      exitCode: 1,
      stdout: '',
    });
    expect(await cli.parley(['chat', 'helper', 'Hi', '--param', 'x'], { env })).toMatchObject({
      exitCode: 2,
    });
  });
});

describe('chat on a terminal', () => {
  let stack: ManageUnderTest;
  let runtime: TestRuntime;
  let keyOf: (permissions: Permission[]) => Promise<string>;

  beforeAll(async () => {
    stack = await startManage((db) => {
      runtime = startRuntime(db);
      const chat = createChatApp({ ...runtime, db, checkResponses: true });
      return { '/v1/agents/helper/chat': chat };
    });
    const { scope } = await seedOrganization(stack.db.pool, {
      agents: [{ slug: 'helper', model: 'offline/scripted', tools: ['entity.query'] }],
      entityTypes: [{ slug: 'product', name: 'Product', schema: { name: 'string' } }],
    });
    keyOf = (permissions) => stack.api.keyOf(scope, permissions);
  });
  afterAll(async () => {
    await runtime.close();
    await stack.close();
  });

  const open = async (permissions: Permission[]) =>
    openPseudoTerminal(`exec ${process.execPath} ${bundle} chat helper '${message}'`, {
      cwd: cli.folder,
      env: { PATH: process.env.PATH, ...stack.envOf(await keyOf(permissions)) },
    });
  const message = '/tool entity.query {"type":"product"}';

  test('a tool is shown when it starts and when it ends, once each', async () => {
    const lock = await stack.db.pool.connect();
    try {
      await lock.query('begin; lock table entities in access exclusive mode');
      const terminal = await open(['chat', 'manage']);
      expect(await terminal.shows('… entity.query')).not.toContain('entity.query  ok');
      await lock.query('commit');
      expect(await terminal.ended).toBe(0);
      expect(terminal.output.match(/entity\.query  /g)).toHaveLength(1);
      expect(terminal.output).toContain('entity.query returned');
    } finally {
      lock.release();
    }
  });

  test('with a key that lacks the permission manage, tools are shown after the reply', async () => {
    const env = stack.envOf(await keyOf(['chat']));
    const { exitCode, stderr } = await cli.parley(['chat', 'helper', message], {
      env,
      isTerminal: true,
    });
    expect(exitCode).toBe(0);
    expect(stderr.match(/entity\.query  ok/g)).toHaveLength(1);
  });
});
