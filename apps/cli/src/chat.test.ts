import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Cli, buildCli } from './cli-under-test';

/** Tests start processes, which takes time on a busy machine. */
jest.setTimeout(30_000);

let cli: Cli;
beforeAll(() => void (cli = buildCli()));
afterAll(() => cli.remove());

describe('chat', () => {
  const requests: { url: string; authorization?: string; body: Record<string, unknown> }[] = [];
  let server: Server;
  let env: Record<string, string>;

  /** A stand-in of POST /v1/agents/:slug/chat (docs/reference/chat.md#endpoints), so that tests can compare exact texts. */
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
    env = { PARLEY_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, PARLEY_API_KEY: 'sk_dev_x' };
  });
  afterAll(() => server.close());
  beforeEach(() => void requests.splice(0));

  const takenOver = { threadId: 'thread_1', message: '', usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 } };
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
    const run = await cli.parley(['chat', 'helper', 'Hello', '--param', 'plan=gold', '--param', 'seats=3'], { env });
    expect(run).toEqual({
      code: 0,
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
    expect(run).toMatchObject({ code: 0, stdout: '' });
    expect(run.stderr).toContain('stored, not answered: a person has taken this thread over');
  });

  test('a conversation continues its thread, also after an error', async () => {
    const run = await cli.parley(['chat', 'helper', '--external-thread', 'web:1'], {
      env,
      input: 'one\n\nfail\ntwo\n',
    });
    expect(run.code).toBe(1);
    expect(run.stdout).toBe('You said one\nYou said two\n');
    expect(run.stderr).toContain('error: Agent not found (agent_not_found, request req-1)\n');
    expect(requests.map(({ body }) => body)).toEqual([
      { message: 'one', externalThreadId: 'web:1' },
      { message: 'fail', threadId: 'thread_1' },
      { message: 'two', threadId: 'thread_1' },
    ]);
  });

  test('--json prints each response as one line, and a failure has status 1', async () => {
    expect(JSON.parse(await cli.succeed(['chat', 'helper', 'Hi', '--json', '--thread', 't'], { env }))).toEqual(
      answerTo('Hi'),
    );
    expect(requests[0]!.body).toEqual({ message: 'Hi', threadId: 't' });
    expect(await cli.parley(['chat', 'helper', 'fail'], { env })).toMatchObject({ code: 1, stdout: '' });
    expect(await cli.parley(['chat', 'helper', 'Hi', '--param', 'x'], { env })).toMatchObject({ code: 2 });
  });
});
