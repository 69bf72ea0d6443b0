import { beginExecution } from '@parley/agents';
import {
  type ModelServer,
  type ModelServerReply,
  type Quirk,
  startModelServer,
  until,
} from '@parley/testing';
import { type TestApi, createTestApi } from '../../../manage/src/testing/create-test-api';
import {
  type WebhookServices,
  phoneNumberId,
  startWebhookServices,
} from '../../testing/start-webhook-services';

jest.setTimeout(120_000);

let models: ModelServer;
let api: TestApi;
let services: WebhookServices;
let key: string;
let count = 0;

beforeAll(async () => {
  models = await startModelServer();
  api = await createTestApi();
  services = await startWebhookServices({
    redisUrl: api.redisUrl,
    database: { ...api.db, url: api.url, close: async () => {} },
    variables: { OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: models.urls.openai },
    definitions: {
      agents: [
        { slug: 'spanish', language: 'es-CL' },
        { slug: 'shop', language: 'es-CL', onFailure: {} },
        { slug: 'handing', onFailure: { reply: 'Te llama una persona.', handoff: true } },
      ],
    },
  });
  key = await api.keyOf(services.organization.scope, ['chat']);
});
afterAll(async () => {
  await services.close();
  await api.close();
  await models.stop();
});
afterEach(() => {
  expect(models.problems).toEqual([]);
  expect(services.kapso.problems).toEqual([]);
});

/** What a client of one way gets. `failure`: there is no answer. */
type Got = { text: string; end: string } | { failure: string };
const message = 'Create the order';

async function chat(): Promise<Got> {
  const { scope } = services.organization;
  const result = await services.runtime.agents.chat(scope, {
    agent: { slug: 'helper' },
    message,
    channel: 'api',
  });
  if (!result.ok) return { failure: result.reason };
  return { text: result.response.message, end: result.response._executionMeta!.finishReason };
}

const headers = { Prefer: 'wait=30' };
async function inBackground(): Promise<Got> {
  const { body } = await api.call('post', '/v1/executions', {
    key,
    headers,
    body: { agentSlug: 'helper', message },
  });
  return body.status === 'succeeded'
    ? { text: body.reply, end: body.finishReason }
    : { failure: body.finishReason };
}

/** The chunks of a stream as a client shows them. */
async function streamed(): Promise<Got> {
  const asked = {
    key,
    headers: { Accept: 'text/event-stream' },
    body: { agentSlug: 'helper', message },
  };
  const { text: body } = await api.call('post', '/v1/executions', asked);
  const lines = body.split('\n').filter((line) => line.startsWith('data: {'));
  let text = '';
  for (const chunk of lines.map(
    (line) => JSON.parse(line.slice('data: '.length)) as Record<string, string>,
  )) {
    if (chunk.type === 'start-step' || chunk.type === 'reset-step') text = '';
    if (chunk.type === 'text-delta') text += chunk.delta;
    if (chunk.type === 'finish') return { text, end: chunk.finishReason!.replace('-', '_') };
    if (chunk.type === 'error') return { failure: chunk.errorText! };
  }
  return { failure: 'the stream has no end' };
}

async function openAi(): Promise<Got> {
  const body = { model: 'agent:helper', messages: [{ role: 'user', content: message }] };
  const response = await api.call('post', '/openai/v1/chat/completions', { key, body });
  if (response.status !== 200) return { failure: response.body.error.code };
  const [choice] = response.body.choices;
  return { text: choice.message.content, end: choice.finish_reason };
}

const textsTo = (contact: string) =>
  services.kapso.sent
    .filter(({ body }) => body.to === contact)
    .map(({ body }) => (body.text as { body: string }).body);

async function write(contact: string): Promise<void> {
  count += 1;
  const status = await services.postBody(
    '/webhook/kapso/messages',
    {
      message: {
        id: `wamid.P${count}`,
        timestamp: String(1_788_264_000 + count),
        type: 'text',
        from: contact,
        text: { body: message },
      },
      conversation: { phone_number: contact },
      phone_number_id: phoneNumberId,
    },
    { headers: { 'X-Webhook-Event': 'whatsapp.message.received' } },
  );
  expect(status).toBe(200);
}
const newContact = () => `1415777${String((count += 1)).padStart(4, '0')}`;

async function whatsapp(): Promise<Got> {
  const contact = newContact();
  await write(contact);
  await services.settled();
  const [text, ...more] = textsTo(contact);
  expect(more).toEqual([]);
  const last = await lastTurn();
  return last.status === 'succeeded' ? { text: text!, end: last.end } : { failure: text! };
}

async function lastTurn() {
  const { rows } = await services.db.pool.query<{ status: string; end: string; calls: string[] }>(
    `select status::text, finish_reason as end,
       coalesce((select array_agg(t.name || ' ' || t.status order by t.call_id) from tool_calls t
                 where t.execution_id = e.id), '{}') as calls
     from executions e order by id desc limit 1`,
  );
  return rows[0]!;
}

const ways: [string, () => Promise<Got>][] = [
  ['chat', chat],
  ['a stream', streamed],
  ['the background', inBackground],
  ["OpenAI's clients", openAi],
  ['WhatsApp', whatsapp],
];
const toOpenAi: Record<string, string> = { refusal: 'stop', tool_calls: 'stop' };
const toStream: Record<string, string> = { refusal: 'content_filter' };

const text = 'The price is 100 €.';
const order = { type: 'order', data: { note: 'T-1' } };
const create = { toolCalls: [{ name: 'entity_create', args: order }] };
const cutCall = {
  toolCalls: [
    { name: 'entity_create', rawArgs: '{"type":"order","data":{"note":"T-1","total":150' },
  ],
};
const quirk = (name: Quirk, reply: ModelServerReply = { text }): ModelServerReply => ({
  ...reply,
  quirks: [name],
});

interface Case {
  name: string;
  reply: ModelServerReply;
  /** Default: the text of the reply. */
  text?: string;
  end?: string;
  calls?: string[];
  /** The code in the API, and how the turn ended. */
  failure?: [code: string, end: string];
}
const created = { text: 'Done.', calls: ['entity.create succeeded'] };
const notCreated = { text: 'Done.', calls: ['entity.create failed'] };

const cases: Case[] = [
  ...(
    [
      ...[
        'no_role',
        'empty_role',
        'null_role',
        'keepalive_before_role',
        'content_parts',
        'think_tag',
      ],
      ...[
        'usage_huge',
        'usage_text',
        'usage_negative',
        'no_finish_reason',
        'ignores_stream',
        'streams_unasked',
      ],
      ...['text_plain', 'small_chunks'],
    ] as Quirk[]
  ).map((name) => ({ name, reply: quirk(name) })),
  ...(
    [
      'call_id_null',
      'call_id_empty',
      'call_id_missing',
      'arguments_object',
      'calls_without_index',
    ] as Quirk[]
  ).map((name) => ({ name, reply: quirk(name, create), ...created })),
  ...(['arguments_null', 'arguments_missing', 'arguments_null_text'] as Quirk[]).map((name) => ({
    name,
    reply: quirk(name, create),
    ...notCreated,
  })),
  ...(['call_without_name', 'call_without_function'] as Quirk[]).map((name) => ({
    name,
    reply: quirk(name, create),
    text: 'Done.',
    calls: ['unnamed failed'],
  })),
  { name: 'a cut call', reply: { ...cutCall, finish: 'length' }, ...notCreated },
  { name: 'a whole call in a cut answer', reply: { ...create, finish: 'length' }, ...notCreated },
  { name: 'incomplete arguments', reply: cutCall, ...notCreated },
  { name: 'a cut text', reply: { text, finish: 'length' }, end: 'length' },
  { name: 'a filtered text', reply: { text, finish: 'content_filter' }, end: 'content_filter' },
  { name: 'a text that an error ended', reply: { text, finish: 'error' }, end: 'error' },
  {
    name: 'a refusal',
    reply: { refusal: 'I cannot help.' },
    text: 'I cannot help.',
    end: 'refusal',
  },
  { name: 'an empty answer', reply: {}, failure: ['empty_answer', 'error'] },
  { name: 'thoughts only', reply: quirk('thoughts_only'), failure: ['empty_answer', 'error'] },
  { name: 'all tokens spent', reply: { finish: 'length' }, failure: ['length', 'length'] },
  {
    name: 'a filtered answer',
    reply: { finish: 'content_filter' },
    failure: ['content_filter', 'content_filter'],
  },
  {
    name: 'a filtered prompt',
    reply: {
      status: 400,
      body: { error: { code: 'content_filter', message: 'The response was filtered' } },
    },
    failure: ['content_filter', 'content_filter'],
  },
  {
    name: 'a rejected request',
    reply: { status: 400, message: 'no such parameter' },
    failure: ['model_failed', 'error'],
  },
  {
    name: 'a rejected key',
    reply: { status: 401, message: 'bad key' },
    failure: ['model_failed', 'error'],
  },
];

const all = cases.flatMap((one) => ways.map(([way, get]) => [one.name, way, one, get] as const));
test.each(all)(
  '%s through %s',
  async (_name, way, { reply, failure, calls = [], ...expected }, get) => {
    models.play(({ messages }) => (messages.at(-1)!.role === 'tool' ? { text: 'Done.' } : reply));
    const got = await get();
    const { text: answer = expected.text ?? reply.text, end = 'stop' } = expected;
    const turn = await lastTurn();
    expect(turn.calls).toEqual(calls);
    if (failure !== undefined) {
      const [code, turnEnd] = failure;
      expect([turn.status, turn.end]).toEqual(['failed', turnEnd]);
      const shown: Record<string, unknown> = {
        chat: code,
        'a stream': 'failed',
        'the background': turnEnd,
        "OpenAI's clients": 'agent_failed',
        WhatsApp: "Sorry, I can't answer right now. Please try again later.",
      };
      expect(got).toEqual({ failure: shown[way] });
      return;
    }
    expect([turn.status, turn.end]).toEqual(['succeeded', end]);
    const isCut = ['length', 'content_filter', 'error'].includes(end);
    const names = way === "OpenAI's clients" ? toOpenAi : way === 'a stream' ? toStream : {};
    expect(got).toEqual({
      text: way === 'WhatsApp' && isCut ? `${answer}…` : answer,
      end: names[end] ?? end,
    });
  },
);

describe('a contact whose message cannot be answered', () => {
  const inbound = (contact: string) =>
    services.db.pool
      .query<{ status: string; attempts: number }>(
        "select status, attempts from messages where contact = $1 and direction = 'inbound' order by id",
        [contact],
      )
      .then(({ rows }) => rows);
  const connectTo = (agent: string) =>
    services.db.pool.query('update channel_connections set agent_slug = $1', [agent]);
  afterEach(() => connectTo('helper'));
  /** Answers the contact's messages that are due, as a sweep would. */
  const answer = (contact: string) =>
    services.queues.enqueue('answer-conversation', {
      tenant: services.organization.scope.tenant,
      connectionId: services.connectionId,
      contact,
    });

  it('gets a notice at once, in the language of the agent, and at most once an hour', async () => {
    await connectTo('spanish');
    models.play(() => ({ finish: 'content_filter' }));
    const contact = newContact();
    for (let sent = 0; sent < 3; sent += 1) {
      await write(contact);
      await services.settled();
    }
    expect(textsTo(contact)).toEqual([expect.stringMatching(/^Lo siento/)]);
    expect((await inbound(contact)).map(({ status, attempts }) => [status, attempts])).toEqual(
      Array.from({ length: 3 }, () => ['failed', 1]),
    );
    await services.db.pool.query(
      "update messages set created_at = created_at - interval '61 minutes' where contact = $1",
      [contact],
    );
    await write(contact);
    await services.settled();
    expect(textsTo(contact)).toHaveLength(2);
  });

  it('sees the text in the thread, and so does the agent', async () => {
    const contact = newContact();
    models.play(() => ({ finish: 'content_filter' }));
    await write(contact);
    await services.settled();
    models.play(() => ({ text: 'Here I am.' }));
    await write(contact);
    await services.settled();
    expect(textsTo(contact)).toEqual([expect.stringMatching(/^Sorry/), 'Here I am.']);
    const read = models.requests
      .at(-1)!
      .messages.map(({ role, text: content }) => `${role}: ${content}`);
    expect(read).toEqual([
      `user: ${message}`,
      expect.stringMatching(/^assistant: Sorry/),
      `user: ${message}`,
    ]);
  });

  it('is handed to a person if the agent says so', async () => {
    await connectTo('handing');
    models.play(() => ({ finish: 'content_filter' }));
    const contact = newContact();
    await write(contact);
    await services.settled();
    expect(textsTo(contact)).toEqual(['Te llama una persona.']);
    const thread = await services.db.pool.query(
      'select state::text, waiting_reason as reason from threads where external_id = $1',
      [`whatsapp:${contact}`],
    );
    expect(thread.rows).toEqual([
      { state: 'waiting', reason: 'The agent could not answer (content_filter)' },
    ]);
  });

  it('gets no notice while a person answers', async () => {
    const contact = newContact();
    models.play(() => ({ text: 'Hi' }));
    await write(contact);
    await services.settled();
    models.play(async () => {
      await services.db.pool.query("update threads set state = 'human' where external_id = $1", [
        `whatsapp:${contact}`,
      ]);
      return { finish: 'content_filter' };
    });
    await write(contact);
    await services.settled();
    expect(textsTo(contact)).toEqual(['Hi']);
    // Before a turn is stored.
    await connectTo('missing');
    await write(contact);
    await services.settled();
    expect(textsTo(contact)).toEqual(['Hi']);
  });

  it('is handed over by each failure, also within the hour of the notice', async () => {
    await connectTo('handing');
    models.play(() => ({ finish: 'content_filter' }));
    const contact = newContact();
    const state = async () =>
      (
        await services.db.pool.query('select state::text from threads where external_id = $1', [
          `whatsapp:${contact}`,
        ])
      ).rows[0]!.state as string;
    await write(contact);
    await services.settled();
    await services.db.pool.query("update threads set state = 'agent' where external_id = $1", [
      `whatsapp:${contact}`,
    ]);
    await write(contact);
    await services.settled();
    expect(textsTo(contact)).toHaveLength(1);
    expect(await state()).toBe('waiting');
  });

  it('gets no notice from a process that has lost the message', async () => {
    const contact = newContact();
    models.play(async () => {
      await services.db.pool.query(
        "update messages set lease_owner = 'another', lease_until = now() + interval '1 minute' where contact = $1",
        [contact],
      );
      return { finish: 'content_filter' };
    });
    await write(contact);
    await until(async () => (await lastTurn()).end === 'content_filter');
    models.play(() => ({ text: 'Hi' }));
    await services.db.pool.query('update messages set lease_until = now() where contact = $1', [
      contact,
    ]);
    await until(async () => {
      await answer(contact);
      return textsTo(contact).length > 0;
    });
    expect(textsTo(contact)).toEqual(['Hi']);
  });

  it('gets a notice of an outage a minute after the message arrived, once, and gets the reply afterwards', async () => {
    const contact = newContact();
    models.play(() => ({ status: 503, headers: { 'retry-after-ms': '1' } }));
    await write(contact);
    const attempted = (times: number) =>
      until(async () => {
        await answer(contact);
        const [first] = await inbound(contact);
        return first?.status === 'received' && first.attempts >= times;
      });
    await attempted(1);
    expect(textsTo(contact)).toEqual([]);
    const makeDue = async (age: string) => {
      await services.db.pool.query(
        `update messages set created_at = created_at - $2::interval, lease_until = now()
         where contact = $1 and direction = 'inbound'`,
        [contact, age],
      );
    };
    await makeDue('61 seconds');
    await attempted(2);
    await until(() => textsTo(contact).length === 1);
    expect(textsTo(contact)).toEqual([expect.stringMatching(/^Sorry/)]);
    models.play(() => ({ text: 'Now it works.' }));
    await makeDue('0 seconds');
    await until(async () => {
      await answer(contact);
      return textsTo(contact).length === 2;
    });
    expect(textsTo(contact)).toEqual([expect.stringMatching(/^Sorry/), 'Now it works.']);
  });

  it('gets a notice when the message has ended three processes', async () => {
    const contact = newContact();
    models.play(() => ({ status: 503, headers: { 'retry-after-ms': '1' } }));
    await write(contact);
    await until(async () => (await inbound(contact))[0]?.status === 'received');
    // As if three processes had ended while they were answering it.
    await services.db.pool.query(
      `update messages set status = 'answering', error = 'the process ended again', lease_owner = 'ended', lease_until = now()
       where contact = $1 and direction = 'inbound'`,
      [contact],
    );
    await until(async () => {
      await answer(contact);
      return (await inbound(contact))[0]?.status === 'failed';
    });
    await services.settled();
    expect(textsTo(contact)).toEqual([expect.stringMatching(/^Sorry/)]);
  });
});

describe('a visitor of a website whose message cannot be answered', () => {
  const query = (sql: string, values: unknown[]) => services.db.pool.query(sql, values);
  const scope = () => services.organization.scope;

  async function send(agent: string, externalThreadId: string): Promise<string> {
    const begun = await services.db.transaction((tx) =>
      beginExecution(tx, scope(), {
        agent: { slug: agent },
        message,
        channel: 'widget',
        callerId: 'visitor',
        externalThreadId,
      }),
    );
    if (!begun.ok) throw new Error(begun.reason);
    const { executionId, threadId } = begun;
    await services.queues.enqueue('run-execution', { tenant: scope().tenant, executionId });
    await until(async () => {
      const { rows } = await query('select status::text from executions where id = $1', [
        executionId,
      ]);
      return rows[0]!.status === 'failed';
    });
    return threadId;
  }
  const repliesIn = async (threadId: string) => {
    const sql =
      "select content from thread_messages where thread_id = $1 and role = 'assistant' order by execution_id";
    return (await query(sql, [threadId])).rows.map(({ content }) => content as string);
  };

  it('reads the text once an hour, and no reply is stored', async () => {
    models.play(() => ({ status: 400, message: 'no such parameter' }));
    const threadId = await send('shop', 'widget:key:visitor-1');
    await send('shop', 'widget:key:visitor-1');
    expect(await repliesIn(threadId)).toEqual([expect.stringMatching(/^Lo siento/)]);
    const { rows } = await query('select output from executions where thread_id = $1', [threadId]);
    expect(rows).toEqual([{ output: null }, { output: null }]);
    // The chat itself says that there is no answer.
    expect(await repliesIn(await send('spanish', 'widget:key:visitor-3'))).toEqual([]);
  });

  it('is handed to a person if the agent says so', async () => {
    models.play(() => ({ finish: 'content_filter' }));
    const threadId = await send('handing', 'widget:key:visitor-2');
    expect(await repliesIn(threadId)).toEqual(['Te llama una persona.']);
    expect((await query('select state::text from threads where id = $1', [threadId])).rows).toEqual(
      [{ state: 'waiting' }],
    );
  });
});
