import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OpenStreams } from '@parley/service';
import { until } from '@parley/testing';
import request from 'supertest';
import { createManageApp } from '../app';
import { type TestApi, type World, createTestApi } from '../testing/create-test-api';
import { insertAgent } from '../testing/samples/executions';

let api: TestApi;
let world: World;
let key: string;
beforeAll(async () => {
  api = await createTestApi();
  world = await api.world();
  await insertAgent(world);
  key = await api.keyOf(world.scope, ['chat']);
});
afterAll(() => api.close());

const path = '/openai/v1/chat/completions';
const user = (content: unknown) => ({ role: 'user', content });
const post = (body: object, given = key) =>
  world.call('post', path, {
    key: given,
    body: { model: 'agent:helper', messages: [user('Hello')], ...body },
  });
const lastExecution = async () =>
  (
    await api.db.pool.query(
      `select e.id::text, e.status, e.error, e.input, e.thread_id, e.background->'sent' as sent, t.erase_at, t.last_message_at
       from executions e join threads t on t.tenant = e.tenant and t.id = e.thread_id where e.tenant = $1 order by e.id desc limit 1`,
      [world.scope.tenant],
    )
  ).rows[0];
/** Ends the execution as a worker does, as soon as it is there. */
async function answerNext(fields: string): Promise<void> {
  const answer = async () => {
    const { rows } = await api.db.pool.query<{ id: string }>(
      `update executions set ${fields}, finished_at = now(), lease_until = null where tenant = $1 and status = 'queued'
       returning id::text`,
      [world.scope.tenant],
    );
    for (const { id } of rows) api.deps.executionChunks.ring(id);
    return rows.length === 1;
  };
  await until(answer, { everyMs: 10 });
}
const succeeded = `status = 'succeeded', output = 'Hi', input_tokens = 7, output_tokens = 3, reasoning_tokens = 2`;

test('a completion has the reply and the usage, and its conversation is stored with the execution', async () => {
  const messages = [
    { role: 'system', content: 'Be brief.' },
    {
      role: 'developer',
      content: [
        { type: 'text', text: 'In ' },
        { type: 'text', text: 'verse.' },
      ],
    },
    user('My name is Ana.'),
    { role: 'assistant', content: 'Hello, Ana.' },
    user('Who am I? 🦜'),
  ];
  const [response] = await Promise.all([
    post({ messages, temperature: 0.2, max_tokens: 5 }).expect(200),
    answerNext(succeeded),
  ]);
  const stored = await lastExecution();
  expect(response.body).toEqual({
    id: `chatcmpl-${stored.id}`,
    object: 'chat.completion',
    created: expect.any(Number),
    model: 'agent:helper',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'Hi', refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: {
      prompt_tokens: 7,
      completion_tokens: 3,
      total_tokens: 10,
      completion_tokens_details: { reasoning_tokens: 2 },
    },
  });
  expect(stored).toMatchObject({
    input: 'Who am I? 🦜',
    sent: {
      instructions: 'Be brief.\n\nIn verse.',
      history: [user('My name is Ana.'), { role: 'assistant', content: 'Hello, Ana.' }],
      isSingle: true,
    },
    last_message_at: null,
  });
  const hours = (stored.erase_at.getTime() - Date.now()) / 3_600_000;
  expect(Math.round(hours)).toBe(24);
});

test('no list shows the thread of a single request, and no request reads, continues or changes it', async () => {
  const all = await api.keyOf(world.scope, ['*', 'manage']);
  const call = (method: 'get' | 'post' | 'delete', at: string, body?: object) =>
    world.call(method, at, { key: all, body });
  const counts = (await call('get', '/v1/thread-counts').expect(200)).body;
  await Promise.all([post({}).expect(200), answerNext(succeeded)]);
  const { thread_id: id, id: executionId } = await lastExecution();
  expect((await call('get', '/v1/thread-counts').expect(200)).body).toEqual(counts);
  expect(
    JSON.stringify((await call('get', '/v1/threads?limit=100').expect(200)).body),
  ).not.toContain(id);
  await call('get', `/v1/threads/${id}`).expect(404);
  await call('get', `/v1/threads/${id}/messages`).expect(404);
  await call('get', `/v1/threads/${id}/stream`).expect(404);
  await call('post', `/v1/threads/${id}/takeover`, {}).expect(404);
  await call('post', `/v1/threads/${id}/notes`, { text: 'n' }).expect(404);
  await call('delete', `/v1/threads/${id}`).expect(404);
  await call('post', '/v1/executions', {
    agentSlug: 'helper',
    message: 'again',
    threadId: id,
  }).expect(404);
  const continued = await post({ metadata: { thread_id: id } }).expect(404);
  expect(continued.body.error).toMatchObject({
    code: 'thread_not_found',
    param: 'metadata.thread_id',
  });
  // Who sees all executions sees its usage.
  await call('get', `/v1/executions/${executionId}`).expect(200);
});

test('with a thread the last message is added to it, without the history of the request', async () => {
  const started = await world.call('post', '/v1/executions', {
    key,
    body: { agentSlug: 'helper', message: 'First' },
  });
  await answerNext(succeeded);
  const { threadId } = started.body;
  const messages = [{ role: 'system', content: 'Be brief.' }, user('ignored'), user('Second')];
  await Promise.all([
    post({ messages, metadata: { thread_id: threadId, other: 'x' } }).expect(200),
    answerNext(succeeded),
  ]);
  expect(await lastExecution()).toMatchObject({
    input: 'Second',
    thread_id: threadId,
    erase_at: null,
    last_message_at: expect.any(Date),
    sent: { instructions: 'Be brief.', history: [], isSingle: false },
  });
  const other = await api.world();
  await insertAgent(other);
  const foreign = await api.keyOf(other.scope, ['chat']);
  expect(
    (await post({ metadata: { thread_id: threadId } }, foreign).expect(404)).body.error.code,
  ).toBe('thread_not_found');
});

test.each([
  [
    "status = 'failed', error = 'openai/x: key sk-1 is refused'",
    502,
    'agent_failed',
    'server_error',
  ],
  ["status = 'failed', error = 'interrupted'", 502, 'agent_failed', 'server_error'],
  ["status = 'failed', error = 'cancelled'", 422, 'cancelled', 'invalid_request_error'],
  ["status = 'succeeded', output = null", 422, 'person_answers', 'invalid_request_error'],
])('an execution that ends with %s is %i %s', async (fields, status, code, type) => {
  const [response] = await Promise.all([post({}).expect(status), answerNext(fields)]);
  expect(response.body.error).toMatchObject({ code, type, param: null });
  // The message is stored: a repetition would store it again.
  expect(response.headers['x-should-retry']).toBe('false');
  expect(JSON.stringify(response.body)).not.toContain('sk-1');
  const [streamed] = await Promise.all([post({ stream: true }).expect(200), answerNext(fields)]);
  expect(streamed.text).toContain(`"code":"${code}"`);
  expect(streamed.text).not.toMatch(/"finish_reason":"stop"|\[DONE\]|sk-1/);
});

test('a stream ends with the usage if that is asked for, and with [DONE]', async () => {
  const [response] = await Promise.all([
    post({ stream: true, stream_options: { include_usage: true } })
      .expect(200)
      .expect('content-type', 'text/event-stream'),
    answerNext(succeeded),
  ]);
  const data = [...response.text.matchAll(/^data: (.*)$/gm)].map(([, text]) => text!);
  expect(data.pop()).toBe('[DONE]');
  const chunks = data.map((text) => JSON.parse(text));
  expect(chunks.map(({ choices: [choice] }) => choice?.delta ?? null)).toEqual([
    { role: 'assistant', content: '' },
    { content: 'Hi' },
    {},
    null,
  ]);
  expect(chunks.map(({ choices: [choice] }) => choice?.finish_reason)).toEqual([
    null,
    null,
    'stop',
    undefined,
  ]);
  expect(chunks.at(-1).usage).toMatchObject({ prompt_tokens: 7, total_tokens: 10 });
  expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
});

test.each([true, false])(
  'a client that disconnects ends the execution, stream: %s',
  async (stream) => {
    const server = createServer(createManageApp(api.deps)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const body = JSON.stringify({
      model: 'agent:helper',
      stream,
      messages: [user(`abort ${stream}`)],
    });
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
    const signal = AbortSignal.timeout(300);
    const failure = fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers,
      body,
      signal,
    })
      .then((response) => response.text())
      .catch((error: Error) => error.name);
    expect(await failure).toBe('TimeoutError');
    await until(async () => (await lastExecution()).error === 'cancelled');
    expect(await lastExecution()).toMatchObject({ input: `abort ${stream}`, status: 'failed' });
    server.close();
  },
);

test('a stream over the limit is refused before its execution begins', async () => {
  const before = await lastExecution();
  const executionStreamLimits = { ...api.deps.executionStreamLimits, perCaller: 0 };
  const app = createManageApp({ ...api.deps, executionStreamLimits });
  const refused = await request(app)
    .post(path)
    .set('Authorization', `Bearer ${key}`)
    .send({ model: 'agent:helper', stream: true, messages: [user('too many')] })
    .expect(429);
  expect(refused.body.error.code).toBe('too_many_streams');
  expect(await lastExecution()).toEqual(before);
});

test('a stream that a shutdown ends cancels its execution', async () => {
  const openStreams = new OpenStreams();
  const executionStreamLimits = { ...api.deps.executionStreamLimits, openStreams };
  const streaming = request(createManageApp({ ...api.deps, executionStreamLimits }))
    .post(path)
    .set('Authorization', `Bearer ${key}`)
    .send({ model: 'agent:helper', stream: true, messages: [user('shutdown')] })
    .then(({ text }) => text);
  await until(async () => (await lastExecution()).input === 'shutdown');
  await until(() => openStreams.size > 0);
  openStreams.endAll();
  expect(await streaming).not.toContain('[DONE]');
  await until(async () => (await lastExecution()).error === 'cancelled');
});

const image = { type: 'image_url', image_url: { url: 'https://a.example/b.png' } };
test.each<[string, object, number, string, string]>([
  ['no model', { model: undefined }, 400, 'model', 'invalid_body'],
  ['a model of OpenAI', { model: 'gpt-5' }, 400, 'model', 'invalid_body'],
  ['an unknown agent', { model: 'agent:none' }, 404, 'model', 'model_not_found'],
  ['an unknown router', { model: 'router:none' }, 404, 'model', 'model_not_found'],
  ['no messages', { messages: [] }, 400, 'messages', 'invalid_body'],
  ['messages that are no list', { messages: 'hi' }, 400, 'messages', 'invalid_body'],
  [
    'the assistant last',
    { messages: [user('a'), { role: 'assistant', content: 'b' }] },
    400,
    'messages',
    'invalid_body',
  ],
  ['a blank message', { messages: [user(' ')] }, 400, 'messages', 'invalid_body'],
  ['an image', { messages: [user([image])] }, 400, 'messages.0.content', 'invalid_body'],
  [
    'a result of a tool last',
    { messages: [user('a'), { role: 'tool', content: 'x', tool_call_id: '1' }] },
    400,
    'messages',
    'invalid_body',
  ],
  [
    'too many messages',
    { messages: Array.from({ length: 1_001 }, () => user('a')) },
    400,
    'messages',
    'invalid_body',
  ],
  [
    'tools',
    { tools: [{ type: 'function', function: { name: 'f' } }] },
    400,
    'tools',
    'invalid_body',
  ],
  ['a required tool', { tool_choice: 'required' }, 400, 'tool_choice', 'invalid_body'],
  ['several answers', { n: 2 }, 400, 'n', 'invalid_body'],
  [
    'JSON as an answer',
    { response_format: { type: 'json_object' } },
    400,
    'response_format',
    'invalid_body',
  ],
  ['a stop sequence', { stop: ['END'] }, 400, 'stop', 'invalid_body'],
  [
    'a thread that does not exist',
    { metadata: { thread_id: 'thread_none' } },
    404,
    'metadata.thread_id',
    'thread_not_found',
  ],
  ['NUL', { messages: [user('a\0b')] }, 400, 'messages.0.content', 'invalid_body'],
])('refuses %s in the form of OpenAI', async (_name, body, status, param, code) => {
  const before = (await lastExecution()).id;
  const response = await post(body).expect(status);
  expect(response.body).toEqual({
    error: {
      message: expect.any(String),
      type: 'invalid_request_error',
      param,
      code,
    },
  });
  expect((await lastExecution()).id).toBe(before);
});

test.each<[string, object, string | undefined, number, string, string]>([
  ['no key', {}, undefined, 401, 'invalid_api_key', 'authentication_error'],
  ['an unknown key', {}, 'sk_dev_unknown', 401, 'invalid_api_key', 'authentication_error'],
  [
    'a publishable key',
    {},
    'pk_dev_abcdefghijklmnopqrstuv',
    403,
    'publishable_key',
    'permission_error',
  ],
])('with %s', async (_name, body, given, status, code, type) => {
  const headers: Record<string, string> =
    given === undefined ? {} : { Authorization: `Bearer ${given}` };
  const response = await api
    .call('post', path, {
      body: { model: 'agent:helper', messages: [user('a')], ...body },
      headers,
    })
    .expect(status);
  expect(response.body.error).toMatchObject({ code, type });
});

test('other permissions, paths, methods and malformed JSON are refused in the same form', async () => {
  const dataOnly = await api.keyOf(world.scope, ['data']);
  expect((await post({}, dataOnly).expect(403)).body.error.code).toBe('missing_permission');
  expect(
    (await world.call('get', '/openai/v1/embeddings', { key }).expect(404)).body.error.code,
  ).toBe('unknown_path');
  expect((await world.call('get', path, { key }).expect(405)).body.error.code).toBe(
    'method_not_allowed',
  );
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const malformed = await api.call('post', path, { headers, body: '{"model":' }).expect(400);
  expect(malformed.body.error.type).toBe('invalid_request_error');
});

test('agents and routers of the environment are models', async () => {
  const { body } = await world.call('get', '/openai/v1/models', { key }).expect(200);
  const model = {
    id: 'agent:helper',
    object: 'model',
    created: expect.any(Number),
    owned_by: 'parley',
  };
  expect(body).toEqual({ object: 'list', data: expect.arrayContaining([model]) });
  expect(
    (await world.call('get', '/openai/v1/models/agent:helper', { key }).expect(200)).body,
  ).toEqual(model);
  expect(
    (await world.call('get', '/openai/v1/models/agent%3Ahelper', { key }).expect(200)).body,
  ).toEqual(model);
  expect(
    (await world.call('get', '/openai/v1/models/agent:none', { key }).expect(404)).body.error.code,
  ).toBe('model_not_found');
  const production = await api.sibling(world, 'production');
  expect((await production.call('get', '/openai/v1/models').expect(200)).body.data).toEqual([]);
});
