import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { queueMessage } from '@parley/channels';
import { until } from '@parley/testing';
import {
  type WebhookServices,
  phoneNumberId,
  startWebhookServices,
} from '../../worker/testing/start-webhook-services';
import { type Cli, openCli } from './testing/run-command';

/** Starts services, and waits for sweeps that run every few seconds. */
jest.setTimeout(180_000);

const mail = { subject: 'A new order', text: 'Thank you' };
let cli: Cli;
let services: WebhookServices;
let count = 0;

beforeAll(async () => {
  cli = openCli();
  services = await startWebhookServices({ definitions: { agents: [{ slug: 'mailer' }] } });
  const { tenant } = services.organization.scope;
  const trigger = (slug: string, on: object, to: string) =>
    sql(
      `insert into triggers (id, tenant, environment, slug, name, entity_type, action, definition, next_tick_at, tick_schedule, updated_at)
       values ($1, $2, 'development', $1, $1, $3::json->>'entityType', $3::json->>'action', $4,
         case when $3::json->>'schedule' is not null then date_trunc('minute', now()) end, ($3::json->>'schedule') || ' UTC', now())`,
      [
        slug,
        tenant,
        JSON.stringify(on),
        JSON.stringify({
          slug,
          name: slug,
          on,
          actions: [{ tool: 'email.send', args: { to, ...mail } }],
        }),
      ],
    );
  await sql(`update entity_types set relayed_actions = '{created}' where slug = 'order'`);
  await trigger('on-order', { entityType: 'order', action: 'created' }, 'order@shop.example');
  await services.stopWorker();
  await trigger('each-year', { schedule: '0 0 1 1 *' }, 'year@shop.example');
});
afterAll(async () => {
  await services.close();
  cli.remove();
});

const sql = async (text: string, values: unknown[] = []) =>
  (await services.db.pool.query(text, values)).rows;
const parley = async (...args: string[]) =>
  JSON.parse(await cli.succeed([...args, '--json'], { env: { DATABASE_URL: services.db.url } }));
const newContact = () => `1415777${String((count += 1)).padStart(4, '0')}`;

/** Adds a row of the outbox that has no job, so that a sweep must find it. */
async function queueText(contact: string, text: string): Promise<string> {
  const request = { to: contact, type: 'text', text: { body: text } };
  const { scope } = services.organization;
  const message = {
    connectionId: services.connectionId,
    contact,
    type: 'text',
    text,
    request,
    key: `key-${(count += 1)}`,
  };
  return (await queueMessage(services.db, scope, message)).id;
}
const queueEmail = (to: string) =>
  sql(
    `insert into emails (id, tenant, environment, idempotency_key, "from", "to", subject, status, payload, updated_at)
     values ($1, $2, 'development', $1, 'a@shop.example', array[$3], 'Hi', 'queued', $4, now())`,
    [
      `email_${(count += 1)}`,
      services.organization.scope.tenant,
      to,
      { from: 'a@shop.example', to: [to], subject: 'Hi', text: 'Hi' },
    ],
  );
/** A message of a contact, stored with its delivery. */
const receive = async (contact: string) => {
  const id = `wamid.IN${(count += 1)}`;
  const message = {
    id,
    timestamp: String(1_788_264_000 + count),
    type: 'text',
    from: contact,
    text: { body: 'hola' },
  };
  const body = { message, conversation: { phone_number: contact }, phone_number_id: phoneNumberId };
  const headers = { 'X-Webhook-Event': 'whatsapp.message.received' };
  expect(await services.postBody('/webhook/kapso/messages', body, { headers })).toBe(200);
};
/** A message of a contact that no turn has answered. */
const wait = (contact: string) => {
  const message = {
    id: `wamid.IN${(count += 1)}`,
    timestamp: '1788264000',
    type: 'text',
    from: contact,
    text: { body: 'hola' },
  };
  return sql(
    `insert into messages (id, tenant, environment, connection_id, direction, message_id, contact, type, text, payload, status, sent_at, updated_at)
     values ($1, $2, 'development', $3, 'inbound', $1, $4, 'text', 'hola', $5, 'received', now(), now())`,
    [
      message.id,
      services.organization.scope.tenant,
      services.connectionId,
      contact,
      { message, conversation: { phone_number: contact } },
    ],
  );
};
const order = async () => {
  const { scope } = services.organization;
  const made = await services.runtime.entities.create(scope, {
    type: 'order',
    data: {},
    actor: { type: 'system' },
  });
  if (!made.ok) throw new Error(made.reason);
};
const run = (id: string, status = 'scheduled', at = 'now()') =>
  sql(
    `insert into trigger_runs (id, tenant, environment, trigger_slug, cause, status, run_at, lease_until, context)
     values ($1, $2, 'development', 'on-order', $1, $3::"TriggerRunStatus", ${at}, case $3 when 'running' then ${at} end, '{}')`,
    [id, services.organization.scope.tenant, status],
  );

const textsTo = (contact: string) =>
  services.kapso.sent.filter(({ body }) => body.to === contact).length;
const mailsTo = (to: string) =>
  services.resend.sent.filter(({ body }) => [body.to].flat().includes(to)).length;
/** What the providers have received, of everybody. */
const received = () => services.kapso.sent.length + services.resend.sent.length;

/**
 * Adds new work of each kind that only sweeps find, and waits until it is done: the sweeps have
 * then seen the older work.
 */
async function sweepsHaveRun(contact: string): Promise<number> {
  const before = received();
  const [message, mailbox, asking] = [
    newContact(),
    `sweep-${(count += 1)}@shop.example`,
    newContact(),
  ];
  await queueText(message, 'new');
  await queueText(contact, 'new');
  const texts = textsTo(contact);
  await queueEmail(mailbox);
  const orders = mailsTo('order@shop.example');
  await order();
  await run(`run_new_${(count += 1)}`);
  await receive(asking);
  await sql(`delete from webhook_deliveries where status = 'processed'`);
  await until(
    () => textsTo(message) === 1 && textsTo(contact) === texts + 1 && mailsTo(mailbox) === 1,
  );
  await until(() => mailsTo('order@shop.example') === orders + 2 && textsTo(asking) === 1);
  await services.settled();
  return before + 6;
}

test('what was open in a backup is not done again after a restore, until it is released: then once', async () => {
  const contacts = Array.from({ length: 5 }, newContact);
  const asking = Array.from({ length: 3 }, newContact);
  for (const contact of contacts) await queueText(contact, 'your order');
  const neverSent = await queueText(newContact(), 'not sent before the restore');
  for (let n = 0; n < 5; n += 1) await queueEmail(`customer-${n}@shop.example`);
  for (const contact of asking) await receive(contact);
  await wait(contacts[2]!);
  for (let n = 0; n < 3; n += 1) await order();
  await run('run_due');
  await run('run_stopped', 'running', `now() - interval '1 minute'`);
  await run('run_next_week', 'scheduled', `now() + interval '7 days'`);

  const file = join(cli.folder, 'held.backup');
  await parley('backup', file);

  // 21 sends: 5 messages and 1 more, 5 e-mails, 4 answers, 5 e-mails of runs, 1 of the schedule.
  services.startWorker();
  await until(() => received() === 21);
  await services.settled();
  expect([mailsTo('order@shop.example'), mailsTo('year@shop.example')]).toEqual([5, 1]);
  await sweepsHaveRun(newContact());
  // As if the provider had never received it.
  services.kapso.sent.splice(
    services.kapso.sent.findIndex(({ body }) =>
      (body.text as { body: string }).body.startsWith('not sent'),
    ),
    1,
  );

  // The worker runs during the restore, and Redis has the jobs of later.
  const counts = { messages: 6, answers: 1, emails: 5, runs: 3, events: 3, deliveries: 3 };
  const restored = await parley('restore', file, '--replace', '--yes');
  expect(restored.held).toEqual(counts);
  let expected = await sweepsHaveRun(contacts[0]!);
  expect(received()).toBe(expected);
  await services.redis.flush();
  await services.stopWorker();
  services.startWorker();
  expected = await sweepsHaveRun(contacts[0]!);
  expect(received()).toBe(expected);
  expect(mailsTo('year@shop.example')).toBe(1);

  const { held } = await parley('held', 'list');
  expect(
    Object.fromEntries(held.map((one: { kind: string; count: number }) => [one.kind, one.count])),
  ).toEqual(counts);
  expect(held[0]).toMatchObject({
    kind: 'messages',
    organization: 'shop',
    environment: 'development',
  });
  const countHeld = async (table: string) =>
    (
      await services.db.pool.query(
        `select count(*)::int as held from ${table} where status = 'held'`,
      )
    ).rows[0].held;
  expect(
    await Promise.all(['messages', 'trigger_runs', 'webhook_deliveries'].map(countHeld)),
  ).toEqual([7, 3, 3]);
  expect(await parley('held', 'release', '--all', '--older-than', '1h')).toEqual({ released: {} });

  // The provider is asked for released messages: only the one that it does not have is sent.
  expect(await parley('held', 'release', '--kind', 'messages')).toEqual({
    released: { messages: 6 },
  });
  await until(
    async () =>
      (await sql(`select from messages where status = 'sent' and id = $1`, [neverSent])).length ===
      1,
  );
  await services.settled();
  expect(received()).toBe((expected += 1));

  // The provider of e-mails knows their keys. Runs, events and answers are done once more.
  expect(await parley('held', 'release', '--kind', 'emails')).toEqual({ released: { emails: 5 } });
  await until(
    async () =>
      (await sql(`select from emails where status = 'queued' or status = 'held'`)).length === 0,
  );
  expect(received()).toBe(expected);
  const orders = mailsTo('order@shop.example');
  expect(await parley('held', 'release', '--all')).toEqual({
    released: { answers: 1, runs: 3, events: 3, deliveries: 3 },
  });
  await until(() => received() === expected + 9);
  await services.settled();
  expected = await sweepsHaveRun(contacts[1]!);
  expect(received()).toBe(expected);
  expect(mailsTo('order@shop.example')).toBe(orders + 5 + 2);
  for (const contact of asking) expect(textsTo(contact)).toBe(2);
  expect(await sql(`select status from trigger_runs where id = 'run_next_week'`)).toEqual([
    { status: 'scheduled' },
  ]);
  expect(await parley('held', 'list')).toEqual({ held: [] });
  expect([services.kapso.problems, services.resend.problems]).toEqual([[], []]);
  rmSync(file);
});

test('dropped work ends without being done, and its rows say so', async () => {
  await services.stopWorker();
  const message = await queueText(newContact(), 'dropped');
  await queueEmail('dropped@shop.example');
  await run('run_dropped');
  await order();
  await receive(newContact());
  await sql(
    `insert into organization_purges (id, organization_id, tenant, slug, signed, run_at)
     values ('purge_1', $1, $2, 'shop', false, now() + interval '1 s')`,
    [services.organization.scope.organizationId, services.organization.scope.tenant],
  );
  const file = join(cli.folder, 'dropped.backup');
  await parley('backup', file);
  const { held } = await parley('restore', file, '--replace', '--yes');
  expect(held).toMatchObject({
    messages: 1,
    emails: expect.any(Number),
    events: 1,
    deliveries: 1,
    purges: 1,
  });
  const before = received();
  const usage = await cli.parley(['held', 'drop', '--kind', 'purges'], {
    env: { DATABASE_URL: services.db.url },
  });
  expect(usage).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('purges cannot be dropped'),
  });
  for (const wrong of [
    ['release'],
    ['drop', '--kind', 'runs', '--all'],
    ['release', '--all', '--older-than', 'x'],
  ])
    expect(
      (await cli.parley(['held', ...wrong], { env: { DATABASE_URL: services.db.url } })).exitCode,
    ).toBe(2);
  const { dropped, skipped } = await parley('held', 'drop', '--all');
  expect(dropped).toEqual({ ...held, purges: undefined });
  expect(skipped).toEqual({ purges: 1 });
  expect(
    await cli.succeed(['held', 'drop', '--all'], { env: { DATABASE_URL: services.db.url } }),
  ).toBe(
    '1 purge cannot be dropped: money or data would be lost. Release them when you have checked them.',
  );
  services.startWorker();
  await sweepsHaveRunWithoutPurge(before);
  expect(await sql('select status, error from messages where id = $1', [message])).toEqual([
    { status: 'unknown', error: 'Dropped after a restore' },
  ]);
  expect(await sql(`select status, error from trigger_runs where id = 'run_dropped'`)).toEqual([
    { status: 'cancelled', error: 'Dropped after a restore' },
  ]);
  // The organization would have been deleted by now.
  expect(await parley('held', 'list')).toMatchObject({
    held: [{ kind: 'purges', organization: 'shop', count: 1 }],
  });
});

async function sweepsHaveRunWithoutPurge(before: number): Promise<void> {
  const contact = newContact();
  await queueText(contact, 'new');
  await run(`run_new_${(count += 1)}`);
  await until(() => received() === before + 2);
}
