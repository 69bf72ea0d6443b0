import { webhookSecretOf } from '@parley/channels';
import { type KapsoServer, startKapsoServer, until } from '@parley/testing';
import { type Client, push } from './client';
import { deliver, deliverAndWait, kapsoMessages, kapsoProject, sample, unique } from './deliveries';
import { shared } from './stack';
import { type Tenant, createTenant } from './tenant';
import { openCommandLine, providerSettings } from './command-line';

jest.setTimeout(120_000);

const run = unique();
/** Unique digits for the ids of numbers. */
const digits = String(Number.parseInt(run, 16)).padStart(13, '0');
const [direct, routed] = [`1${digits}`, `2${digits}`] as [string, string];
const commandLine = openCommandLine(providerSettings());

let kapso: KapsoServer;
let tenant: Tenant;
let manageKey: string;
let client: Client;
let count = 0;
/** A phone number that no other test uses. */
const newContact = () => `56${digits}${(count += 1)}`;

beforeAll(async () => {
  kapso = await startKapsoServer();
  kapso.numbers = { [direct]: '+1 555-123-4567', [routed]: '+1 555-123-4568' };
  tenant = await createTenant();
  manageKey = (await tenant.client({ permissions: ['manage'] })).key;
  client = await tenant.client();
  const agent = (slug: string) => ({
    slug,
    name: slug,
    systemPrompt: 'You help.',
    model: 'offline/scripted',
  });
  await push(client, {
    entityTypes: [
      { slug: 'customer', name: 'Customer', schema: { phone: 'string', debt: 'number' } },
      { slug: 'note', name: 'Note', schema: { text: 'string' } },
    ],
    agents: [{ ...agent('helper'), tools: ['entity.create'] }, agent('billing'), agent('general')],
    routers: [
      {
        slug: 'desk',
        name: 'Desk',
        mode: 'rules',
        agents: ['billing', 'general'],
        rules: [
          {
            conditions: [{ field: 'customer.debt', operator: 'gt', value: 100 }],
            route: 'billing',
          },
        ],
        fallback: 'general',
      },
    ],
  });
  await parley(
    ['integrations', 'set', 'kapso', '--api-key', '-', '--api-url', kapso.url],
    kapso.apiKey,
  );
});
afterAll(async () => {
  commandLine.close();
  await tenant.close();
  await kapso.stop();
});
afterEach(() => expect(kapso.problems).toEqual([]));

/** Commands with a key that has the permission manage. */
const parley = (args: string[], input?: string) =>
  commandLine.parley([...args, '--org', tenant.slug], {
    input,
    env: { PARLEY_API_KEY: manageKey },
  });
const textsTo = (contact: string) =>
  kapso.sent
    .filter(({ body }) => body.to === contact)
    .map(({ body }) => (body.text as { body: string }).body);
/** Waits for a number of replies to a contact. */
const replies = (contact: string, wanted: number) =>
  until(() => textsTo(contact).length >= wanted && textsTo(contact));
const inputsOf = (contact: string) =>
  tenant
    .query(
      `select e.input from executions e join threads t on t.id = e.thread_id and t.tenant = e.tenant
       where t.tenant = $1 and t.external_id = $2 order by e.id`,
      [tenant.scope.tenant, `whatsapp:${contact}`],
    )
    .then((rows) => rows.map(({ input }) => input));

/** A sample of a message from a contact to a number of this file, with the fields of `changed`. */
function messageOf(file: string, contact: string, changed: object = {}, phoneNumberId = direct) {
  const item = sample(`kapso/${file}`);
  Object.assign(item, { phone_number_id: phoneNumberId });
  Object.assign(item.conversation, { phone_number: contact, business_scoped_user_id: null });
  Object.assign(item.message, {
    id: `wamid.${run}.${(count += 1)}`,
    from: contact,
    from_user_id: null,
    timestamp: String(1_788_264_000 + count),
    ...changed,
  });
  return item;
}
const textOf = (contact: string, body: string, phoneNumberId = direct) =>
  messageOf('whatsapp.message.received', contact, { text: { body } }, phoneNumberId);
const receive = (body: object) =>
  deliverAndWait(tenant, kapsoMessages, body, { event: 'whatsapp.message.received' });

/** Connects a number as a person does: the command prints a link, and Kapso reports the number. */
async function connect(phoneNumberId: string, answerer: string[]): Promise<void> {
  const customer = `customer-${phoneNumberId}`;
  expect(await parley(['channels', 'connect', ...answerer, '--customer', customer])).toBe(
    'https://setup.example/1',
  );
  const created = sample('kapso/whatsapp.phone_number.created');
  Object.assign(created, { phone_number_id: phoneNumberId, customer: { id: customer } });
  const event = 'whatsapp.phone_number.created';
  expect(await deliverAndWait(tenant, kapsoProject, created, { event })).toMatchObject({
    status: 'processed',
    tenant: tenant.scope.tenant,
  });
}

it('a number that is connected at the intermediary is fetched and connected, and its webhook is registered', async () => {
  await connect(direct, ['--agent', 'helper']);
  const { data: connections } = JSON.parse(await parley(['channels', 'list', '--json']));
  expect(connections).toMatchObject([
    { status: 'connected', phoneNumber: '15551234567', phoneNumberId: direct, agent: 'helper' },
  ]);
  expect(kapso.webhooks).toEqual([
    {
      id: expect.any(String),
      phoneNumberId: direct,
      url: `${shared.publicUrl}/webhook/kapso/messages`,
      // The secret is valid for this connection only, as the owner of the account
      // can read it there.
      secretKey: webhookSecretOf(shared.webhookSecrets.MESSAGING_WEBHOOK_SECRET, connections[0].id),
      events: ['received', 'sent', 'delivered', 'read', 'failed'].map(
        (name) => `whatsapp.message.${name}`,
      ),
    },
  ]);
});

it('a text is answered by the connected agent on the thread of the contact, and only once', async () => {
  const contact = newContact();
  const question = textOf(contact, '/tool entity.create {"type":"note","data":{"text":"hola"}}');
  await receive(question);
  expect(await replies(contact, 1)).toEqual([expect.stringContaining('hola')]);
  expect(kapso.sent.at(-1)).toMatchObject({
    phoneNumberId: direct,
    body: { messaging_product: 'whatsapp', type: 'text' },
  });
  await receive(question);
  await receive({ type: 'whatsapp.message.received', batch: true, data: [question] });
  const thread = await parley(['threads', 'show', `whatsapp:${contact}`]);
  expect(thread).toContain('hola');
  // Prompts may use the name of the contact.
  expect(thread).toContain('{"contactName":"Alpha Fixture"}');
  await receive(textOf(contact, 'y ahora'));
  expect(await replies(contact, 2)).toHaveLength(2);
  expect(await inputsOf(contact)).toEqual([question.message.text.body, 'y ahora']);
  expect((await client.get('/v1/data/note')).body.data).toHaveLength(1);
});

it("the secret of a connection signs its number's messages, but not messages of another number or events of the project", async () => {
  const { secretKey: secret } = kapso.webhooks[0]!;
  const contact = newContact();
  const event = 'whatsapp.message.received';
  await deliverAndWait(tenant, kapsoMessages, textOf(contact, 'hola'), { event, secret });
  expect(await replies(contact, 1)).toHaveLength(1);
  const forged = textOf(newContact(), 'hola', unique());
  expect((await deliver(kapsoMessages, forged, { event, secret })).status).toBe(403);
  const deleted = { event: 'whatsapp.phone_number.deleted', phone_number_id: direct };
  expect((await deliver(kapsoProject, deleted, { secret })).status).toBe(403);
});

it('a captured message cannot disconnect its number at the webhook endpoint of the project', async () => {
  const captured = textOf(newContact(), 'hola');
  const { status } = await deliver(kapsoProject, captured, {
    event: 'whatsapp.phone_number.deleted',
  });
  expect(status).toBe(403);
  const { data: connections } = JSON.parse(await parley(['channels', 'list', '--json']));
  expect(connections).toMatchObject([{ phoneNumberId: direct }]);
});

it('a message in the documented shape is answered, too', async () => {
  const contact = newContact();
  const item = sample('kapso/interface-shape.message.received');
  Object.assign(item, { phone_number_id: direct });
  Object.assign(item.message, { id: `wamid.${run}.${(count += 1)}`, text: 'hola' });
  Object.assign(item.conversation, { phone_number: `+${contact}` });
  expect(item).toMatchObject({ event: expect.any(String), payload_version: 'v2' });
  await deliverAndWait(tenant, kapsoMessages, item);
  const [reply] = await replies(contact, 1);
  expect(reply).toMatch(/./);
  const status = sample('kapso/interface-shape.message.status');
  Object.assign(status, { phone_number_id: direct });
  const { id } = kapso.sent.find(({ body }) => body.to === contact)!;
  Object.assign(status.message, { id, status: 'delivered' });
  await deliverAndWait(tenant, kapsoMessages, status);
  expect(await tenant.query('select status from messages where message_id = $1', [id])).toEqual([
    { status: 'delivered' },
  ]);
});

it('a batch is answered message by message, in the order in which they were sent', async () => {
  const contact = newContact();
  const data = ['uno', 'dos', 'tres'].map((word) => textOf(contact, word));
  await receive({ type: 'whatsapp.message.received', batch: true, data, batch_info: { size: 3 } });
  await replies(contact, 3);
  expect(await inputsOf(contact)).toEqual(['uno', 'dos', 'tres']);
});

it.each([
  ['a button', 'whatsapp.message.received.interactive', {}, 'Pagar'],
  ['a voice note', 'whatsapp.message.received.audio', {}, 'Necesito ayuda con mi pedido'],
  [
    'a row of a list',
    'whatsapp.message.received.interactive',
    { interactive: { type: 'list_reply', list_reply: { id: 'row_1', title: 'Carpa azul' } } },
    'Carpa azul',
  ],
])('%s is answered', async (_, file, changed, words) => {
  const contact = newContact();
  await receive(messageOf(file, contact, changed));
  expect(await replies(contact, 1)).toHaveLength(1);
  expect(await inputsOf(contact)).toEqual([words]);
});

it('a picture without a caption gets the configured media reply, and no agent is called', async () => {
  const contact = newContact();
  await parley(['integrations', 'set', 'kapso', '--media-reply', 'Solo texto, por favor']);
  const picture = messageOf('whatsapp.message.received.image', contact);
  delete picture.message.image.caption;
  Object.assign(picture.message.kapso, { message_type_data: {} });
  await receive(picture);
  expect(await replies(contact, 1)).toEqual(['Solo texto, por favor']);
  expect(await inputsOf(contact)).toEqual([]);
});

it('a router chooses the agent by the entity of the phone number', async () => {
  await connect(routed, ['--router', 'desk']);
  const [debtor, other] = [newContact(), newContact()];
  await client.post('/v1/data/customer', { data: { phone: debtor, debt: 500 } });
  await receive(textOf(debtor, 'hola', routed));
  await receive(textOf(other, 'hola', routed));
  await Promise.all([replies(debtor, 1), replies(other, 1)]);
  const agents = await tenant.query(
    `select t.external_id as thread, e.agent_slug as slug from executions e join threads t on t.id = e.thread_id and t.tenant = e.tenant
     where t.tenant = $2 and t.external_id = any($1) order by 2`,
    [[debtor, other].map((contact) => `whatsapp:${contact}`), tenant.scope.tenant],
  );
  expect(agents).toEqual([
    { thread: `whatsapp:${debtor}`, slug: 'billing' },
    { thread: `whatsapp:${other}`, slug: 'general' },
  ]);
  expect(kapso.sent.find(({ body }) => body.to === debtor)).toMatchObject({
    phoneNumberId: routed,
  });
});

it('during a takeover the agent does not answer, and afterwards it does', async () => {
  const contact = newContact();
  await receive(textOf(contact, 'hola'));
  await replies(contact, 1);
  await parley(['threads', 'takeover', `whatsapp:${contact}`]);
  const kept = textOf(contact, 'quiero hablar con alguien');
  await receive(kept);
  await until(async () => {
    const rows = await tenant.query('select status from messages where message_id = $1', [
      kept.message.id,
    ]);
    return rows[0]?.status === 'stored';
  });
  // The agent answers the message that has no answer.
  expect(await parley(['threads', 'resume', `whatsapp:${contact}`])).toContain(
    "answers the contact's last message now",
  );
  await replies(contact, 2);
  await receive(textOf(contact, 'gracias'));
  await replies(contact, 3);
  expect(textsTo(contact)).toHaveLength(3);
  const asked = expect.stringContaining('answer them now');
  expect(await inputsOf(contact)).toEqual(['hola', 'quiero hablar con alguien', asked, 'gracias']);
});

it.each([
  [['read', 'delivered', 'sent'], 'read'],
  [['failed', 'delivered', 'sent'], 'failed'],
])('statuses that arrive as %j end in %s', async (order, furthest) => {
  const contact = newContact();
  await receive(textOf(contact, 'hola'));
  await replies(contact, 1);
  const { id } = kapso.sent.find(({ body }) => body.to === contact)!;
  for (const status of [...order, ...order]) {
    const event = `whatsapp.message.${status}`;
    const item = sample(`kapso/${event}`);
    Object.assign(item, { phone_number_id: direct });
    item.message.id = id;
    for (const entry of item.message.kapso.statuses) entry.id = id;
    expect((await deliverAndWait(tenant, kapsoMessages, item, { event })).status).toBe('processed');
  }
  const found = await client.post('/v1/run-tool', { toolName: 'whatsapp.getStatus', args: { id } });
  expect(found.body.result).toMatchObject({ status: furthest });
});

it('events that are not used are acknowledged, and messages that were sent from the phone itself are stored', async () => {
  const event = 'whatsapp.conversation.ended';
  const ended = sample(`kapso/${event}.unhandled`);
  expect(await deliverAndWait(tenant, kapsoMessages, ended, { event })).toMatchObject({
    status: 'ignored',
  });
  const own = messageOf('whatsapp.message.sent.business-app', newContact());
  expect(
    await deliverAndWait(tenant, kapsoMessages, own, { event: 'whatsapp.message.sent' }),
  ).toMatchObject({
    status: 'processed',
  });
});

// The last test of this file, as it disconnects a number.
it('a number that is disconnected at the intermediary is removed with its webhook, and its messages are refused', async () => {
  // The documented shape has the name of the event in the body.
  const deleted = { event: 'channel.phone_number.deleted', phone_number_id: routed };
  expect(await deliverAndWait(tenant, kapsoProject, deleted)).toMatchObject({
    status: 'processed',
  });
  const { data: connections } = JSON.parse(await parley(['channels', 'list', '--json']));
  expect(connections).toMatchObject([{ phoneNumberId: direct }]);
  expect(kapso.webhooks.map(({ phoneNumberId }) => phoneNumberId)).toEqual([direct]);
  // Webhook-ingest caches numbers for two seconds. The refused delivery is stored in the inbox.
  await until(async () => {
    const { status, body } = await deliver(kapsoMessages, textOf(newContact(), 'hola', routed), {
      event: 'whatsapp.message.received',
    });
    return status === 500 && body.error === 'Phone number not found';
  });
});
