import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type ModelServer, type Stack, startModelServer, until } from '@parley/testing';
import OpenAI from 'openai';
import { type Client, push } from './client';
import { startOwnStack } from './stack';
import { type Tenant, createTenant } from './tenant';

jest.setTimeout(90_000);

let model: ModelServer;
let stack: Stack & { databaseUrl: string };
let tenant: Tenant;
let owner: Client & { key: string };
const answer = 'You are Ana, as you said.';

beforeAll(async () => {
  model = await startModelServer();
  stack = await startOwnStack({
    services: ['data', 'worker', 'manage', 'gateway'],
    environment: {
      OPENAI_BASE_URL: model.urls.openai,
      OPENAI_API_KEY: 'sk-test',
      MANAGE_RATE_LIMIT_PER_KEY: '60',
    },
  });
  tenant = await createTenant({ url: stack.url, databaseUrl: stack.databaseUrl });
  owner = await tenant.client({ permissions: ['*', 'manage'] });
  await push(owner, {
    agents: [
      { slug: 'slow', name: 'Slow', systemPrompt: 'You answer.', model: 'openai/gpt-5-mini' },
    ],
    routers: [{ slug: 'desk', name: 'Desk', mode: 'rules', agents: ['slow'], fallback: 'slow' }],
  });
});
afterAll(async () => {
  await tenant?.close();
  await stack?.stop();
  await model?.stop();
});
beforeEach(() =>
  model.play(({ messages }) => {
    const { text } = messages.at(-1)!;
    if (text === 'Fail') return { status: 400, message: 'refused' };
    if (text === 'Abort me') return { text: 'word '.repeat(400), pieceEveryMs: 20 };
    return { text: answer, pieceEveryMs: 100 };
  }),
);

test('the published packages of OpenAI, LangChain and the AI SDK talk to it unmodified', async () => {
  const script = join(__dirname, '../use-openai.mjs');
  const { key } = await tenant.client({ permissions: ['chat'] });
  const { stdout } = await promisify(execFile)(process.execPath, [script, stack.url, key]);
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  expect(JSON.parse(stdout)).toEqual({
    openai: {
      text: answer,
      finish: 'stop',
      usage: expect.objectContaining(usage),
      streamed: answer,
      isInPieces: true,
      streamUsage: expect.objectContaining(usage),
      models: ['agent:slow', 'router:desk'],
      model: 'agent:slow',
      unknownKey: [expect.any(String), 401],
      unknownModel: [expect.any(String), 404],
      failed: [expect.any(String), 502],
      failedStream: [expect.any(String), null],
    },
    langchain: { text: answer, streamed: answer, usage: [10, 5], unknownKey: 401 },
    aiSdk: { text: answer, streamed: answer, usage: [10, 5, 5], unknownKey: 401 },
  });
  const first = model.requests[0]!;
  expect(first.system).toBe('You answer.\n\nBe brief.');
  expect(first.messages.map(({ role, text }) => [role, text])).toEqual([
    ['user', 'My name is Ana.'],
    ['assistant', 'Hello, Ana.'],
    ['user', 'Who am I?'],
  ]);
  const { data } = (await owner.get('/v1/executions?limit=100')).body as {
    data: { input: string; status: string }[];
  };
  await until(async () => {
    const { body } = await owner.get('/v1/executions?status=cancelled');
    return (body.data as { input: string }[]).some(({ input }) => input === 'Abort me');
  });
  expect(data.length).toBeGreaterThan(8);
  expect((await owner.get('/v1/threads')).body.data).toEqual([]);
});

test('a router is a model, a thread is continued, and a limit is RateLimitError', async () => {
  const { key } = await tenant.client({ permissions: ['chat'] });
  const client = new OpenAI({ apiKey: key, baseURL: `${stack.url}/openai/v1`, maxRetries: 0 });
  const routed = await client.chat.completions.create({
    model: 'router:desk',
    messages: [{ role: 'user', content: 'Hi' }],
  });
  expect(routed.choices[0]!.message.content).toBe(answer);

  const started = await owner.post('/v1/executions', { agentSlug: 'slow', message: 'Earlier' });
  const { threadId, executionId } = started.body as Record<string, string>;
  await owner.get(`/v1/executions/${executionId}?wait=30`);
  await client.chat.completions.create({
    model: 'agent:slow',
    messages: [{ role: 'user', content: 'Later' }],
    metadata: { thread_id: threadId! },
  });
  expect(model.requests.at(-1)!.messages.map(({ text }) => text)).toEqual([
    'Earlier',
    answer,
    'Later',
  ]);

  const failures = await Promise.all(
    Array.from({ length: 80 }, () =>
      client.models.retrieve('agent:none').catch((error: unknown) => error),
    ),
  );
  const calls = Array.from({ length: 70 }, () =>
    client.chat.completions
      .create({ model: 'agent:none', messages: [{ role: 'user', content: 'Hi' }] })
      .catch((error: unknown) => error),
  );
  const limited = (await Promise.all(calls)).filter(
    (error) => error instanceof OpenAI.RateLimitError,
  );
  expect(failures.every((error) => error instanceof OpenAI.NotFoundError)).toBe(true);
  expect(limited.length).toBeGreaterThan(5);
  expect(limited[0]).toMatchObject({
    status: 429,
    code: 'rate_limit_exceeded',
    type: 'rate_limit_error',
  });
  expect(Number(limited[0]!.headers.get('retry-after'))).toBeGreaterThan(0);
});

test('the gateway refuses in the same form', async () => {
  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(stack.url + path, init);
    return [
      response.status,
      ((await response.json()) as { error: { code: string; type: string } }).error.type,
    ];
  };
  expect(
    await ask('/openai/v1/nothing', { headers: { Authorization: `Bearer ${owner.key}` } }),
  ).toEqual([404, 'invalid_request_error']);
  const large = {
    method: 'POST',
    headers: { Authorization: `Bearer ${owner.key}` },
    body: 'x'.repeat(1_100_000),
  };
  expect(await ask('/openai/v1/chat/completions', large)).toEqual([413, 'invalid_request_error']);
  await stack.services.manage!.stop();
  expect(await ask('/openai/v1/models')).toEqual([503, 'server_error']);
  await stack.services.manage!.start();
});

test('the thread of a single request is erased with its execution after a day', async () => {
  const rows = () => tenant.query('select erase_at from threads where erase_at is not null');
  const executions = async () =>
    (
      await tenant.query(
        'select 1 from executions where thread_id in (select id from threads where erase_at is not null)',
      )
    ).length;
  expect((await rows()).length).toBeGreaterThan(5);
  expect(await executions()).toBeGreaterThan(5);
  await tenant.query(`update threads set erase_at = now() where erase_at is not null`);
  await until(async () => (await rows()).length === 0, { limitMs: 30_000 });
  const left = await tenant.query('select input from executions');
  expect(left.map(({ input }) => input).sort()).toEqual(['Earlier', 'Later']);
});
