import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject, RoleDefinition } from '@parley/contracts';
import { type ModelServer, startModelServer } from '@parley/testing';
import {
  type WebhookServices,
  phoneNumberId,
  startWebhookServices,
} from '../testing/start-webhook-services';

jest.setTimeout(120_000);

const all = ['list', 'read', 'create', 'update'] as const;
/**
 * A contact may access its own sales by its entity and its own notes by its id. It may not
 * delete anything.
 */
const shopper: RoleDefinition = {
  slug: 'shopper',
  name: 'Shopper',
  policies: [
    ...['sale', 'note', 'invoice', 'customer'].map((resource) => ({
      resource,
      actions: [...all],
      effect: 'allow' as const,
    })),
    ...['agent.chat', 'router.transfer', 'sales.peek', 'whatsapp.*', 'email.send'].map(
      (resource) => ({
        resource,
        actions: ['execute' as const],
        effect: 'allow' as const,
      }),
    ),
  ],
  scopeRules: [
    { entityType: 'sale', field: 'data.customer', operator: 'eq', value: 'actor.entityId' },
    { entityType: 'note', field: 'data.owner', operator: 'eq', value: 'actor.userId' },
    { entityType: 'invoice', field: 'id', operator: 'in', value: 'actor.relatedIds:invoice' },
  ],
  fieldMasks: [{ entityType: 'sale', fieldPath: 'card', maskType: 'hide' }],
};

/** With the role of a shopper: may also write to others. */
const herald: RoleDefinition = {
  slug: 'herald',
  name: 'Herald',
  policies: [{ resource: 'whatsapp.*', actions: ['reach'], effect: 'allow' }],
};

const model = 'offline/scripted';
const tools = [
  'entity.*',
  'agent.chat',
  'router.transfer',
  'sales.peek',
  'whatsapp.*',
  'email.send',
];
const quoteSales = `{{entity.query({"type":"sale"}) | "no sales"}}`;

let services: WebhookServices;
let models: ModelServer;
let executor: Server;
/** Callback tokens that the executor has received. */
const tokens: string[] = [];
let count = 0;

beforeAll(async () => {
  models = await startModelServer();
  models.play(({ system }) => ({ text: system }));
  executor = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      tokens.push((JSON.parse(body) as { callback: { token: string } }).callback.token);
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify({ result: 'peeked', _meta: { durationMs: 1 } }));
    });
  }).listen(0, '127.0.0.1');
  await once(executor, 'listening');
  const slugs = ['customer', 'sale', 'note', 'invoice'];
  services = await startWebhookServices({
    definitions: {
      entityTypes: slugs.map((slug) => ({ slug, name: slug, schema: {} })),
      roles: [shopper, herald],
      agents: [
        { slug: 'bound', model, tools, roles: ['shopper'] },
        { slug: 'free', model, tools },
        { slug: 'free-too', model, tools },
        { slug: 'messenger', model, tools, roles: ['shopper', 'herald'] },
        { slug: 'lost', model, tools, roles: ['deleted-role'] },
        {
          slug: 'reciter',
          model: 'openai/echo',
          systemPrompt: quoteSales,
          tools,
          roles: ['shopper'],
        },
        { slug: 'free-reciter', model: 'openai/echo', systemPrompt: quoteSales, tools },
      ],
      routers: [
        {
          slug: 'desk',
          name: 'Desk',
          mode: 'rules',
          agents: ['bound', 'free'],
          rules: [
            {
              conditions: [{ field: 'customer.tier', operator: 'eq', value: 'staff' }],
              route: 'free',
            },
          ],
          fallback: 'bound',
        },
      ],
      tools: [
        { name: 'sales.peek', description: 'Peeks', parameters: {}, handlerCode: 'return 1' },
      ],
    },
    variables: {
      OPENAI_API_KEY: 'key',
      OPENAI_BASE_URL: models.urls.openai,
      EXECUTOR_TOKEN: 'executor',
      TOOL_EXECUTOR_URL: `http://127.0.0.1:${(executor.address() as AddressInfo).port}`,
    },
  });
});
beforeEach(() => setAnsweredBy({ agent: 'bound' }));
afterAll(async () => {
  await services.close();
  await models.stop();
  executor.close();
});

const setAnsweredBy = ({
  agent = null,
  router = null,
  contactType = 'customer',
}: Record<string, string | null>) =>
  services.db.pool.query(
    'update channel_connections set agent_slug = $2, router_slug = $3, contact_type = $4 where id = $1',
    [services.connectionId, agent, router, contactType],
  );

const newContact = () => `5691555${String((count += 1)).padStart(4, '0')}`;

/** Sends a message of a contact and returns the reply. */
async function say(
  contact: string,
  body: string,
  more: { message?: object; conversation?: object } = {},
) {
  const before = services.kapso.sent.length;
  const message = {
    id: `wamid.R${(count += 1)}`,
    timestamp: String(1_788_264_000 + count),
    type: 'text',
  };
  const item = {
    message: { ...message, from: contact, text: { body }, ...more.message },
    conversation: { phone_number: contact, ...more.conversation },
    phone_number_id: phoneNumberId,
  };
  const headers = { 'X-Webhook-Event': 'whatsapp.message.received' };
  expect(await services.postBody('/webhook/kapso/messages', item, { headers })).toBe(200);
  await services.settled();
  return services.kapso.sent
    .slice(before)
    .map(({ body }) => (body.text as { body: string }).body)
    .join('');
}
const call = (contact: string, tool: string, args: object) =>
  say(contact, `/tool ${tool} ${JSON.stringify(args)}`);

async function create(type: string, data: JsonObject): Promise<string> {
  const actor = { type: 'system' } as const;
  const made = await services.runtime.entities.create(services.organization.scope, {
    type,
    data,
    actor,
  });
  if (!made.ok) throw new Error(made.reason);
  return made.entity.value.id;
}
const newCustomer = async (phone: string) => {
  const customer = await create('customer', { phone });
  return {
    customer,
    sale: await create('sale', { customer, word: `word${(count += 1)}`, card: '4111' }),
  };
};
const saleOf = async (contact: string) => (await newCustomer(contact)).sale;
const events = async (entityId: string) =>
  (
    await services.db.pool.query(
      'select type, actor from events where entity_id = $1 order by id',
      [entityId],
    )
  ).rows;

test('an unknown contact reads nothing outside of its scope, and deletes nothing', async () => {
  const sale = await saleOf(newContact());
  const unknown = newContact();
  const answer = await call(unknown, 'entity.query', { type: 'sale' });
  expect(answer).toContain('"data":[]');
  expect(await call(unknown, 'entity.get', { id: sale })).toContain('not accessible within scope');
  expect(await call(unknown, 'entity.delete', { id: sale })).toContain(
    "Permission denied: cannot perform 'delete' on 'sale'",
  );
  expect(await call(unknown, 'entity.update', { id: sale, data: { word: 'x' } })).toContain(
    'not accessible within scope',
  );
  expect(
    await call(unknown, 'entity.query', { type: 'sale', filters: { 'data.card': '4111' } }),
  ).toContain('failed');
  expect(await call(unknown, 'entity.query', { type: 'order' })).toContain('Permission denied');
  expect(await events(sale)).toHaveLength(1);
});

test('a contact reads what its entity, its relations and its own id give access to, without masked fields', async () => {
  const contact = newContact();
  await saleOf(newContact());
  const { customer, sale } = await newCustomer(`+56 9 ${contact.slice(3, 7)}-${contact.slice(7)}`);
  const answer = await call(contact, 'entity.query', { type: 'sale' });
  expect(answer).toContain(sale);
  expect(answer.match(/"customer":/g)).toHaveLength(1);
  expect(answer).not.toContain('4111');

  const [mine, theirs] = [await create('invoice', { n: 1 }), await create('invoice', { n: 2 })];
  await services.runtime.entities.link(services.organization.scope, {
    fromId: mine,
    relation: 'of',
    toId: customer,
  });
  const invoices = await call(contact, 'entity.query', { type: 'invoice' });
  expect(invoices).toContain(mine);
  expect(invoices).not.toContain(theirs);

  const note = await create('note', { owner: contact });
  await create('note', { owner: newContact() });
  const notes = await call(contact, 'entity.query', { type: 'note' });
  expect(notes).toContain(note);
  expect(notes.match(/"owner":/g)).toHaveLength(1);
});

test('a contact creates entities within its scope only, and the event names the agent, the contact and its entity', async () => {
  const contact = newContact();
  const { customer } = await newCustomer(contact);
  const answer = await call(contact, 'entity.create', { type: 'sale', data: { customer } });
  const id = /"id":"([^"]+)"/.exec(answer)![1]!;
  expect(await events(id)).toEqual([
    {
      type: 'entity.created',
      actor: {
        type: 'agent',
        slug: 'bound',
        roles: ['shopper'],
        userId: contact,
        entityId: customer,
      },
    },
  ]);
  const other = await create('customer', { phone: newContact() });
  expect(
    await call(contact, 'entity.create', { type: 'sale', data: { customer: other } }),
  ).toContain('not accessible within scope');
  // A sale without a customer does not belong to a contact without an entity.
  const unknown = newContact();
  for (const data of [{}, { customer: null }, { customer: 'actor.entityId' }])
    expect(await call(unknown, 'entity.create', { type: 'sale', data })).toContain(
      'not accessible within scope',
    );
});

test('when several entities have the number, in any spelling, the contact has no entity; a deleted one does not count', async () => {
  const contact = newContact();
  const sale = await saleOf(contact);
  const double = await create('customer', {
    mobile: `(${contact.slice(0, 2)}) ${contact.slice(2)}`,
  });
  const sales = () => call(contact, 'entity.query', { type: 'sale' });
  expect(await sales()).toContain('"data":[]');
  const removed = { type: 'customer', id: double, actor: { type: 'system' as const } };
  await services.runtime.entities.remove(services.organization.scope, removed);
  expect(await sales()).toContain(sale);
  const spelled = await create('customer', { telephone: `+${contact}` });
  expect(await sales()).toContain('"data":[]');
  await services.runtime.entities.remove(services.organization.scope, { ...removed, id: spelled });
  expect(await sales()).toContain(sale);
});

test('a contact has no entity without a contact type, with a missing one, and without a number', async () => {
  const contact = newContact();
  const sale = await saleOf(contact);
  for (const contactType of [null, 'deleted-type', 'bad\u0001type']) {
    await setAnsweredBy({ agent: 'bound', contactType });
    expect(await call(contact, 'entity.query', { type: 'sale' })).toContain('"data":[]');
  }
  await setAnsweredBy({ agent: 'bound' });
  const scoped = `CL.${contact}`;
  const sayScoped = (body: string) =>
    say(contact, body, {
      message: { from: undefined, from_user_id: scoped },
      conversation: { phone_number: null },
    });
  const note = await create('note', { owner: scoped });
  expect(await sayScoped('/tool entity.query {"type":"sale"}')).toContain('"data":[]');
  expect(await sayScoped('/tool entity.query {"type":"note"}')).toContain(note);
  // Once the number is known, it applies to messages without a number, too.
  await say(contact, 'hola', { message: { from_user_id: scoped } });
  expect(await sayScoped('/tool entity.query {"type":"sale"}')).toContain(sale);
  // A new number replaces the old one, which may belong to another person now.
  const changed = newContact();
  const later = await saleOf(changed);
  await say(changed, 'hola', { message: { from_user_id: scoped } });
  const seen = await sayScoped('/tool entity.query {"type":"sale"}');
  expect([seen.includes(sale), seen.includes(later)]).toEqual([false, true]);
});

test('an agent without roles keeps the rights of the system', async () => {
  await setAnsweredBy({ agent: 'free' });
  const sale = await saleOf(newContact());
  const unknown = newContact();
  expect(await call(unknown, 'entity.get', { id: sale })).toContain('4111');
  expect(await call(unknown, 'entity.delete', { id: sale })).toContain('"success":true');
  expect(await events(sale)).toEqual([
    expect.anything(),
    { type: 'entity.deleted', actor: { type: 'system' } },
  ]);
});

test('an agent that is given roles between two messages acts with them; one whose role is missing may do nothing', async () => {
  const contact = newContact();
  const sale = await saleOf(newContact());
  await setAnsweredBy({ agent: 'free' });
  expect(await call(contact, 'entity.get', { id: sale })).toContain('4111');
  const setRoles = (roles: string[]) =>
    services.db.pool.query(
      `update agent_configs set definition = (definition::jsonb || jsonb_build_object('roles', $2::jsonb))::json
       where agent_id = $1`,
      [services.organization.agentIds.free, JSON.stringify(roles)],
    );
  await setRoles(['shopper']);
  expect(await call(contact, 'entity.get', { id: sale })).toContain('not accessible within scope');
  await setRoles([]);
  expect(await call(contact, 'entity.get', { id: sale })).toContain('4111');
  await setAnsweredBy({ agent: 'lost' });
  expect(await call(contact, 'entity.get', { id: sale })).toContain(
    "Permission denied: cannot perform 'read' on 'sale'",
  );
});

test('with a router the roles of the answering agent apply, also after a transfer', async () => {
  await setAnsweredBy({ router: 'desk' });
  const sale = await saleOf(newContact());
  const [customer, staff] = [newContact(), newContact()];
  await create('customer', { phone: staff, tier: 'staff' });
  expect(await call(staff, 'entity.get', { id: sale })).toContain('4111');
  expect(await call(customer, 'entity.get', { id: sale })).toContain('not accessible within scope');
  expect(await call(customer, 'router.transfer', { agentSlug: 'free' })).toContain(
    '"transferred":true',
  );
  expect(await call(customer, 'entity.get', { id: sale })).toContain('4111');
  expect(await call(staff, 'router.transfer', { agentSlug: 'bound' })).toContain(
    '"transferred":true',
  );
  expect(await call(staff, 'entity.get', { id: sale })).toContain('not accessible within scope');
});

test('an agent that is called by another agent acts with its own roles, within those of its caller, for the same contact', async () => {
  const contact = newContact();
  const { customer, sale } = await newCustomer(contact);
  const theirs = await saleOf(newContact());
  const ask = (agentSlug: string, id: string) =>
    call(contact, 'agent.chat', {
      agentSlug,
      message: `/tool entity.get ${JSON.stringify({ id })}`,
    });
  await setAnsweredBy({ agent: 'free' });
  expect(await ask('bound', sale)).toContain(sale);
  expect(await ask('bound', sale)).not.toContain('4111');
  expect(await ask('bound', theirs)).toContain('not accessible within scope');
  const message = `/tool entity.update ${JSON.stringify({ id: sale, data: { word: 'changed' } })}`;
  await call(contact, 'agent.chat', { agentSlug: 'bound', message });
  await setAnsweredBy({ agent: 'bound' });
  await call(contact, 'agent.chat', { agentSlug: 'free', message });
  expect(await ask('free', sale)).toContain(sale);
  expect(await ask('free', sale)).not.toContain('4111');
  expect(await ask('free', theirs)).toContain('not accessible within scope');
  expect((await events(sale)).slice(1)).toEqual([
    {
      type: 'entity.updated',
      actor: {
        type: 'agent',
        slug: 'bound',
        roles: ['shopper'],
        userId: contact,
        entityId: customer,
      },
    },
    {
      type: 'entity.updated',
      actor: {
        type: 'agent',
        slug: 'free',
        roles: [],
        within: [['shopper']],
        userId: contact,
        entityId: customer,
      },
    },
  ]);
});

describe('messages reach', () => {
  const onlyContact = 'reaches only the contact of the conversation';
  /** Two contacts that have just written. */
  async function twoContacts() {
    const [contact, other] = [newContact(), newContact()];
    await create('customer', { phone: contact, email: 'Me@Example.com' });
    await say(other, 'hola');
    return { contact, other };
  }
  const sentTo = (contact: string, text: string) =>
    services.kapso.sent.filter(
      ({ body }) => body.to === contact && JSON.stringify(body).includes(text),
    ).length;

  test('only the contact, when the agent has roles', async () => {
    const { contact, other } = await twoContacts();
    await setAnsweredBy({ agent: 'bound' });
    const messages = [
      ['whatsapp.send', { to: other, text: 'spam' }],
      ['whatsapp.send', { to: `+${other}`, text: 'spam' }],
      ['whatsapp.sendTemplate', { to: other, template: 'spam' }],
      ['whatsapp.sendMedia', { to: other, mediaType: 'image', url: 'https://a.example/spam.png' }],
      ['whatsapp.sendInteractive', { to: other, text: 'spam', buttons: [{ id: 'a', title: 'A' }] }],
      ['whatsapp.getConversation', { contact: other }],
      [
        'agent.chat',
        {
          agentSlug: 'free',
          message: `/tool whatsapp.send ${JSON.stringify({ to: other, text: 'spam' })}`,
        },
      ],
    ] as const;
    for (const [tool, args] of messages)
      expect(await call(contact, tool, args)).toContain(onlyContact);
    expect(sentTo(other, 'spam')).toBe(0);
    await call(contact, 'whatsapp.send', { to: `+${contact}`, text: 'for me' });
    expect(sentTo(contact, 'for me')).toBeGreaterThan(0);
    expect(await call(contact, 'whatsapp.getConversation', { contact })).toContain('windowOpen');
    const idOf = async (of: string): Promise<string> =>
      (
        await services.db.pool.query<{ id: string }>(
          'select id from messages where contact = $1 limit 1',
          [of],
        )
      ).rows[0]!.id;
    expect(await call(contact, 'whatsapp.getStatus', { id: await idOf(other) })).toContain(
      'Message not found',
    );
    expect(await call(contact, 'whatsapp.getStatus', { id: await idOf(contact) })).toContain(
      'direction',
    );
  });

  test("only the address of the contact's entity, from the configured sender", async () => {
    const { contact } = await twoContacts();
    await setAnsweredBy({ agent: 'bound' });
    const email = { to: 'me@example.com', subject: 's', text: 't' };
    const other = 'victim@example.com';
    for (const args of [
      { to: other },
      { to: [email.to, other] },
      { cc: other },
      { bcc: other },
      { replyTo: other },
    ])
      expect(await call(contact, 'email.send', { ...email, ...args })).toContain(onlyContact);
    expect(
      await call(contact, 'email.send', {
        ...email,
        to: `"${other}, " <me@example.com>, ${other}`,
      }),
    ).toContain('must be an e-mail address');
    expect(await call(contact, 'email.send', { ...email, from: other })).toContain(
      'comes from the configuration',
    );
    expect(await call(newContact(), 'email.send', email)).toContain(onlyContact);
    expect(services.resend.sent).toEqual([]);
    expect(await call(contact, 'email.send', { ...email, to: 'Me <ME@example.com>' })).toContain(
      '"status":"sent"',
    );
    expect(services.resend.sent).toMatchObject([{ body: { from: 'Acme <hello@acme.example>' } }]);
  });

  test('anyone, by a policy, and when no agent of the conversation has roles', async () => {
    const { contact, other } = await twoContacts();
    await setAnsweredBy({ agent: 'messenger' });
    await call(contact, 'whatsapp.send', { to: other, text: 'by policy' });
    expect(sentTo(other, 'by policy')).toBe(1);
    await setAnsweredBy({ agent: 'free' });
    await call(contact, 'whatsapp.send', { to: other, text: 'by the system' });
    expect(sentTo(other, 'by the system')).toBe(1);
    const message = `/tool whatsapp.send ${JSON.stringify({ to: other, text: 'asked by the system' })}`;
    await call(contact, 'agent.chat', { agentSlug: 'free-too', message });
    expect(sentTo(other, 'asked by the system')).toBe(1);
    const sender = { to: 'x@example.com', subject: 's', text: 't', from: 'boss@bank.example' };
    expect(await call(contact, 'email.send', sender)).toContain('comes from the configuration');
  });
});

test('a prompt reads only what the role lets the contact read', async () => {
  const contact = newContact();
  const sale = await saleOf(contact);
  const theirs = await saleOf(newContact());
  await setAnsweredBy({ agent: 'reciter' });
  const prompt = await say(contact, 'hola');
  expect(prompt).toContain(sale);
  expect(prompt).not.toContain(theirs);
  expect(prompt).not.toContain('4111');
  expect(await say(newContact(), 'hola')).toContain('"data":[]');
  await setAnsweredBy({ agent: 'free-reciter' });
  expect(await say(newContact(), 'hola')).toContain('4111');
});

test('the code of a custom tool acts as the agent for the contact in all its calls', async () => {
  const contact = newContact();
  const { customer, sale } = await newCustomer(contact);
  const theirs = await saleOf(newContact());
  expect(await call(contact, 'sales.peek', {})).toContain('peeked');
  const { scope, grant } = services.runtime.callbackTokens.read(tokens.at(-1)!)!;
  expect(grant.actor).toEqual({
    type: 'agent',
    slug: 'bound',
    roles: ['shopper'],
    userId: contact,
    entityId: customer,
  });
  const run = (name: string, args: object) =>
    services.runtime.tools.run(scope, { name, args, ...grant });
  expect(await run('entity.get', { id: theirs })).toMatchObject({
    ok: false,
    errorType: 'permission_denied',
  });
  expect(await run('entity.delete', { id: sale })).toMatchObject({
    ok: false,
    errorType: 'permission_denied',
  });
  const message = `/tool entity.get ${JSON.stringify({ id: sale })}`;
  const asked = await run('agent.chat', { agentSlug: 'bound', message: message });
  expect(asked).toMatchObject({ ok: false, message: expect.stringContaining('already waiting') });
  await setAnsweredBy({ agent: 'free' });
  await call(contact, 'sales.peek', {});
  const free = services.runtime.callbackTokens.read(tokens.at(-1)!)!;
  expect(free.grant.actor).toEqual({ type: 'system' });
  const viaCode = await services.runtime.tools.run(scope, {
    name: 'agent.chat',
    args: { agentSlug: 'bound', message },
    ...free.grant,
  });
  expect(viaCode).toMatchObject({ ok: true, result: { message: expect.stringContaining(sale) } });
});

test('the entity is looked up once per turn, and only for an agent with roles', async () => {
  const contact = newContact();
  await saleOf(contact);
  const { pool } = services.db;
  const query = pool.query.bind(pool);
  let lookups = 0;
  pool.query = ((...args: [{ name?: string }]) => {
    if (args[0]?.name === 'entity-by-phone-digits') lookups += 1;
    return (query as (...all: unknown[]) => unknown)(...args);
  }) as typeof pool.query;
  try {
    await setAnsweredBy({ agent: 'reciter' });
    await say(contact, 'hola');
    expect(lookups).toBe(1);
    await setAnsweredBy({ agent: 'bound' });
    await call(contact, 'entity.query', { type: 'sale' });
    expect(lookups).toBe(2);
    await setAnsweredBy({ agent: 'free' });
    await call(contact, 'entity.query', { type: 'sale' });
    await setAnsweredBy({ agent: 'bound', contactType: null });
    await call(contact, 'entity.query', { type: 'sale' });
    expect(lookups).toBe(2);
  } finally {
    pool.query = query as typeof pool.query;
  }
});
