import {
  addPersonsMessage,
  lockThread,
  readThread,
  resumeThread,
  takeThreadOver,
} from '@parley/agents';
import { answerAgain } from '@parley/channels';
import { changeOrganization } from '@parley/identity';
import { silentLogger } from '@parley/service';
import { type ModelServer, startModelServer, until } from '@parley/testing';
import {
  type WebhookServices,
  phoneNumberId,
  startWebhookServices,
} from '../testing/start-webhook-services';
import { createSweepThreads } from './jobs/sweep-threads';

jest.setTimeout(60_000);

let services: WebhookServices;
let model: ModelServer;
let count = 0;
beforeAll(async () => {
  model = await startModelServer();
  services = await startWebhookServices({
    definitions: { agents: [{ slug: 'front', tools: ['thread.handoff'], model: 'openai/test' }] },
    variables: { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: model.urls.openai },
  });
  await services.db.pool.query("update channel_connections set agent_slug = 'front'");
});
beforeEach(() => {
  model.play(() => ({ text: 'ok' }));
  services.kapso.sent.length = 0;
});
afterAll(async () => {
  await services.close();
  await model.stop();
});

const ana = { type: 'person', id: 'user_1', name: 'Ana' } as const;
const scope = () => services.organization.scope;
const newContact = () => `1415556${String((count += 1)).padStart(4, '0')}`;
const nameOf = (contact: string) => `whatsapp:${contact}`;
const receive = (contact: string, body: string) =>
  receiveItem(contact, { type: 'text', text: { body } });
const receiveItem = async (contact: string, content: object) => {
  const message = {
    id: `wamid.P${(count += 1)}`,
    timestamp: String(1_788_264_000 + count),
    from: contact,
    ...content,
  };
  const item = { message, conversation: { phone_number: contact }, phone_number_id: phoneNumberId };
  const headers = { 'X-Webhook-Event': 'whatsapp.message.received' };
  expect(await services.postBody('/webhook/kapso/messages', item, { headers })).toBe(200);
};
const textsTo = (contact: string) =>
  services.kapso.sent
    .filter(({ body }) => body.to === contact)
    .map(({ body }) => (body.text as { body: string }).body);
/** What the contact has got when nothing is left to do, after the first text. */
const answersTo = async (contact: string) => {
  await until(() => textsTo(contact).length > 0);
  await services.settled();
  return textsTo(contact);
};
const threadOf = (contact: string) => readThread(services.db, scope(), nameOf(contact));
const contentsOf = async (contact: string) =>
  (
    await services.db.pool.query<{ content: string }>(
      `select m.content from thread_messages m join threads t on t.id = m.thread_id
       where t.external_id = $1 and m.role <> 'tool' and m.content <> '' order by m.execution_id, m.position`,
      [nameOf(contact)],
    )
  ).rows.map(({ content }) => content);
const messagesOf = async (contact: string) =>
  (
    await services.db.pool.query(
      `select status from messages where contact = $1 and direction = 'inbound'`,
      [contact],
    )
  ).rows;
const takeOver = (contact: string, resumesAt: Date | null = null) =>
  services.db.transaction(async (tx) => {
    const thread = (await lockThread(tx, scope(), nameOf(contact)))!;
    await takeThreadOver(tx, scope(), thread, { by: ana, resumesAt });
  });
const resume = (contact: string, note?: string) =>
  services.db.transaction(async (tx) => {
    const thread = (await lockThread(tx, scope(), nameOf(contact)))!;
    const unanswered = await resumeThread(tx, scope(), thread);
    if (note !== undefined)
      await addPersonsMessage(tx, scope(), thread, { role: 'system', content: note, author: ana });
    return unanswered !== null && (await answerAgain(tx, scope(), unanswered)) !== null;
  });
const endPause = (contact: string) =>
  services.db.pool.query(
    "update threads set resumes_at = now() - interval '1 s' where external_id = $1",
    [nameOf(contact)],
  );
const sweep = () =>
  createSweepThreads({
    ...services.runtime,
    db: services.db,
    queues: services.queues,
    log: silentLogger(),
  })({}, { requestId: `sweep-${(count += 1)}`, signal: new AbortController().signal });
const setConversations = (
  conversations: Parameters<typeof changeOrganization>[2]['conversations'],
) =>
  services.db.transaction((tx) =>
    changeOrganization(tx, scope().organizationId, { conversations }),
  );

/**
 * The model answers when `release` is called, after `toolCall` if it is given. `asked`: it has
 * got that request.
 */
function holdModel(toolCall?: { text: string; toolCalls: { name: string; args: object }[] }) {
  const asked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  model.play(async ({ messages }) => {
    if (toolCall !== undefined && messages.at(-1)?.role !== 'tool') return toolCall;
    asked.resolve();
    await released.promise;
    return { text: 'too late' };
  });
  return { asked: asked.promise, release: released.resolve };
}

test('a takeover in mid-turn: the reply is not sent, and the end of the takeover answers the message once', async () => {
  const contact = newContact();
  const { asked, release } = holdModel();
  await receive(contact, 'Is it open?');
  await asked;
  await takeOver(contact);
  model.play(() => ({ text: 'Yes, until six.' }));
  release();
  await services.settled();
  expect(textsTo(contact)).toEqual([]);
  expect(await resume(contact, 'We close at six.')).toBe(true);
  expect(await resume(contact)).toBe(false);
  expect(await answersTo(contact)).toEqual(['Yes, until six.']);
  const prompt = model.requests.at(-1)!.messages.map(({ text }) => text);
  expect(prompt).toEqual([
    'Is it open?',
    expect.stringContaining('left this note for you:] We close at six.'),
    expect.stringContaining('have no answer'),
  ]);
});

test('a takeover that ends while the interrupted turn still waits for the model: the message is answered once', async () => {
  const contact = newContact();
  const { asked, release } = holdModel();
  await receive(contact, 'Is it open?');
  await asked;
  await takeOver(contact);
  model.play(() => ({ text: 'Yes, until six.' }));
  expect(await resume(contact)).toBe(true);
  release();
  expect(await answersTo(contact)).toEqual(['Yes, until six.']);
});

test('a takeover between a call of a tool and the reply: the end of the takeover answers the message', async () => {
  const contact = newContact();
  const { asked, release } = holdModel({
    text: 'One moment.',
    toolCalls: [{ name: 'thread_handoff', args: { reason: 'asks for a refund' } }],
  });
  await receive(contact, 'Give me my money back');
  await asked;
  await takeOver(contact);
  release();
  await services.settled();
  model.play(() => ({ text: 'You get it today.' }));
  expect(await resume(contact)).toBe(true);
  expect(await answersTo(contact)).toEqual(['You get it today.']);
  expect(model.requests.at(-1)!.messages.at(-1)!.text).toContain('do not call it again');
});

test('a picture that waits after the last message does not keep the end of a takeover from answering it', async () => {
  const contact = newContact();
  const { asked, release } = holdModel();
  await receive(contact, 'Is it open?');
  await asked;
  await receiveItem(contact, { type: 'image', image: { id: 'media.1' } });
  await until(async () => (await messagesOf(contact)).length === 2);
  await takeOver(contact);
  model.play(() => ({ text: 'Yes, until six.' }));
  expect(await resume(contact)).toBe(true);
  release();
  expect((await answersTo(contact))[0]).toBe('Yes, until six.');
});

test('a text that waits after the last message is answered with it, once', async () => {
  const contact = newContact();
  const { asked, release } = holdModel();
  await receive(contact, 'Hello');
  await asked;
  await receive(contact, 'Is it open?');
  await until(async () => (await messagesOf(contact)).length === 2);
  await takeOver(contact);
  model.play(() => ({ text: 'Yes, until six.' }));
  expect(await resume(contact)).toBe(false);
  release();
  expect(await answersTo(contact)).toEqual(['Yes, until six.']);
});

test('a reaction after the last message does not keep the end of a takeover from answering it', async () => {
  const contact = newContact();
  await receive(contact, 'Hi');
  await services.settled();
  await takeOver(contact);
  await receive(contact, 'Is it open?');
  await receiveItem(contact, {
    type: 'reaction',
    reaction: { message_id: 'wamid.x', emoji: '👍' },
  });
  await services.settled();
  model.play(() => ({ text: 'Yes, until six.' }));
  expect(await resume(contact)).toBe(true);
  await until(() => textsTo(contact).length === 2);
  await services.settled();
  expect(textsTo(contact)).toEqual(['ok', 'Yes, until six.']);
});

test('a takeover between the reply and its outbox keeps the reply back', async () => {
  const contact = newContact();
  const { asked, release } = holdModel();
  await receive(contact, 'Hi');
  await asked;
  // The end of the turn does not need the lock of the thread; the worker then waits for it before
  // it fills the outbox.
  await services.db.transaction(async (tx) => {
    const thread = (await lockThread(tx, scope(), nameOf(contact)))!;
    release();
    await until(async () => (await contentsOf(contact)).includes('too late'));
    await takeThreadOver(tx, scope(), thread, { by: ana, resumesAt: null });
  });
  await services.settled();
  expect(textsTo(contact)).toEqual([]);
  expect(await contentsOf(contact)).toEqual(['Hi']);
});

test("a reply typed in the phone's own app enters the thread, pauses the agent, and ends at its time", async () => {
  const contact = newContact();
  await receive(contact, 'Do you deliver?');
  await services.settled();
  const item = {
    phone_number_id: phoneNumberId,
    message: {
      id: `wamid.phone${contact}`,
      timestamp: String(Math.floor(Date.now() / 1_000)),
      type: 'text',
      to: contact,
      text: { body: 'Yes, on Mondays' },
      kapso: { direction: 'outbound', status: 'sent', origin: 'business_app' },
    },
    conversation: { phone_number: contact },
  };
  const headers = { 'X-Webhook-Event': 'whatsapp.message.sent' };
  for (let n = 0; n < 2; n += 1)
    expect(await services.postBody('/webhook/kapso/messages', item, { headers })).toBe(200);
  await services.settled();
  expect(await contentsOf(contact)).toEqual(['Do you deliver?', 'ok', 'Yes, on Mondays']);
  const { takenOverBy, resumesAt } = (await threadOf(contact))!;
  expect(takenOverBy).toMatchObject({ type: 'phone' });
  expect(resumesAt!.getTime() - Date.now()).toBeGreaterThan(58 * 60_000);
  await receive(contact, 'Great, and the price?');
  await services.settled();
  expect(textsTo(contact)).toEqual(['ok']);
  // The pause ends while the contact waits: the agent answers without another message.
  await endPause(contact);
  await Promise.all([sweep(), sweep()]);
  await until(() => textsTo(contact).length === 2);
  await services.settled();
  expect(textsTo(contact)).toEqual(['ok', 'ok']);
  expect(await threadOf(contact)).toMatchObject({ state: 'agent' });
});

describe('an agent that asks for a person', () => {
  const asks = (args: object) =>
    model.play(({ messages }) =>
      messages.at(-1)?.role === 'tool'
        ? { text: 'A colleague will write to you.' }
        : { toolCalls: [{ name: 'thread_handoff', args }] },
    );

  test('sends its message, waits, sends one e-mail, and takes the thread back', async () => {
    const contact = newContact();
    asks({ reason: 'asks for a refund', message: 'A person will answer you.' });
    await setConversations({
      notifyAfterMinutes: 0,
      notifyEmails: ['team@acme.example'],
      takeBackAfterMinutes: 1,
    });
    await receive(contact, 'Give me my money back');
    await services.settled();
    expect(textsTo(contact)).toEqual(['A person will answer you.']);
    expect(await threadOf(contact)).toMatchObject({
      state: 'waiting',
      waitingReason: 'asks for a refund',
    });
    await receive(contact, 'Hello?');
    await Promise.all([sweep(), sweep()]);
    await services.settled();
    const { rows } = await services.db.pool.query(
      `select "to", subject from emails where idempotency_key like 'waiting-%'`,
    );
    expect(rows).toEqual([
      { to: ['team@acme.example'], subject: expect.stringContaining('is waiting for a person') },
    ]);
    expect(textsTo(contact)).toHaveLength(1);
    const { id } = (await threadOf(contact))!;
    const waiting = `select from events where type = 'thread.waiting' and payload->>'threadId' = $1`;
    expect((await services.db.pool.query(waiting, [id])).rowCount).toBe(1);
    model.play(() => ({ text: 'I am back.' }));
    await endPause(contact);
    await sweep();
    await until(() => textsTo(contact).includes('I am back.'));
  });

  test('outside of opening hours the contact gets the text for them, and without texts the agent writes', async () => {
    const never = [{ days: ['mon' as const], from: '00:00', to: '00:01' }];
    await setConversations({ openingHours: never, closedMessage: 'We are closed.' });
    asks({ reason: 'a question', message: 'A person will answer you.' });
    const late = newContact();
    await receive(late, 'A person, please');
    await services.settled();
    expect(textsTo(late)).toEqual(['We are closed.']);
    await setConversations({ openingHours: [], closedMessage: null });
    asks({ reason: 'a question' });
    const early = newContact();
    await receive(early, 'A person, please');
    await services.settled();
    expect(textsTo(early)).toEqual(['A colleague will write to you.']);
    expect(await threadOf(early)).toMatchObject({ state: 'waiting' });
  });

  test('when a person answers already gets an error as the result', async () => {
    const contact = newContact();
    asks({ reason: 'again' });
    await setConversations({ takeBackAfterMinutes: null, notifyAfterMinutes: null });
    await receive(contact, 'A person, please');
    await services.settled();
    expect(await threadOf(contact)).toMatchObject({ state: 'waiting', resumesAt: null });
    await takeOver(contact);
    await sweep();
    expect(await threadOf(contact)).toMatchObject({ state: 'human' });
  });
});
