import type { Scope } from '@parley/contracts';
import { type ProviderServer, seedOrganization, startProviderServer, until } from '@parley/testing';
import {
  type WebhookServices,
  phoneNumberId,
  startWebhookServices,
} from '../testing/start-webhook-services';

jest.setTimeout(120_000);

/** More than the slots of a process. */
const flood = 45;

let services: WebhookServices;
let model: ProviderServer;
let asked = 0;
let release: () => void;
let released: Promise<void>;
beforeEach(() => {
  asked = 0;
  released = new Promise((resolve) => (release = resolve));
});
beforeAll(async () => {
  services = await startWebhookServices({
    definitions: { agents: [{ slug: 'slow', model: 'openai/slow' }] },
  });
  model = await startProviderServer(async () => {
    asked += 1;
    await released;
    const message = { role: 'assistant', content: 'At last' };
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    return {
      status: 200,
      body: { id: 'c', object: 'chat.completion', choices: [{ index: 0, message }], usage },
    };
  });
  await services.db.pool.query(
    `insert into integrations (id, tenant, environment, provider, config, updated_at)
     values ('slow', $1, 'development', 'openai', $2, now())`,
    [services.organization.scope.tenant, { baseUrl: `${model.url}/v1` }],
  );
});
afterAll(async () => {
  await model.stop();
  await services.close();
});

const addTrigger = ({ tenant, environment }: Scope, slug: string, action: object) =>
  services.db.pool.query(
    `with t as (insert into entity_types (id, tenant, environment, slug, name, schema, relayed_actions, updated_at)
       values ($3, $1, $2::"Environment", $3, $3, '{}', '{created}', now()))
     insert into triggers (id, tenant, environment, slug, name, entity_type, action, definition, updated_at)
     values ($3, $1, $2::"Environment", $3, $3, $3, 'created', $4, now())`,
    [
      tenant,
      environment,
      slug,
      JSON.stringify({
        slug,
        name: slug,
        on: { entityType: slug, action: 'created' },
        actions: [action],
      }),
    ],
  );
const create = async (scope: Scope, type: string) => {
  const made = await services.runtime.entities.create(scope, {
    type,
    data: {},
    actor: { type: 'system' },
  });
  if (!made.ok) throw new Error(made.reason);
};
const succeeded = async ({ tenant }: Scope) =>
  (
    await services.db.pool.query(
      "select from trigger_runs where tenant = $1 and status = 'succeeded'",
      [tenant],
    )
  ).rowCount;

test('slow conversations of one organization leave room for those of another, and all are answered', async () => {
  const { scope } = services.organization;
  await services.db.pool.query("update channel_connections set agent_slug = 'slow'");
  const receive = (contact: string, number: string) =>
    services.postBody(
      '/webhook/kapso/messages',
      {
        message: {
          id: `wamid.${contact}`,
          timestamp: '1788264000',
          type: 'text',
          from: contact,
          text: { body: 'hola' },
        },
        conversation: { phone_number: contact },
        phone_number_id: number,
      },
      { headers: { 'X-Webhook-Event': 'whatsapp.message.received' } },
    );
  for (let n = 0; n < flood; n += 1) await receive(`1415666${1_000 + n}`, phoneNumberId);
  await until(async () => asked === 24);

  const { scope: other } = await seedOrganization(services.db.pool, {
    slug: 'other',
    agents: [{ slug: 'helper' }],
  });
  await services.db.pool.query(
    `insert into channel_connections (id, tenant, environment, phone_number_id, status, agent_slug, updated_at)
     values ('conn_other', $1, 'development', $2, 'connected', 'helper', now())`,
    [other.tenant, `9${phoneNumberId}`],
  );
  for (let n = 0; n < 3; n += 1) await receive(`1415777${1_000 + n}`, `9${phoneNumberId}`);
  await until(async () => services.kapso.sent.length === 3);
  expect(asked).toBe(24);

  release();
  await services.settled();
  expect(services.kapso.sent).toHaveLength(flood + 3);
  const { rows } = await services.db.pool.query(
    `select distinct status, attempts from messages where tenant = $1 and direction = 'inbound'`,
    [scope.tenant],
  );
  expect(rows).toEqual([{ status: 'answered', attempts: 1 }]);
});

test('slow trigger runs of one organization leave room for those of another, and all are executed', async () => {
  const { scope } = services.organization;
  await addTrigger(scope, 'slow-order', {
    tool: 'agent.chat',
    args: { agentSlug: 'slow', message: 'Hello' },
  });
  const { scope: other } = await seedOrganization(services.db.pool, {
    entityTypes: [{ slug: 'note', name: 'Note', schema: {} }],
  });
  await addTrigger(other, 'quick-order', {
    tool: 'entity.create',
    args: { type: 'note', data: {} },
  });
  for (let n = 0; n < flood; n += 1) await create(scope, 'slow-order');
  await until(async () => asked === 24);
  for (let n = 0; n < 3; n += 1) await create(other, 'quick-order');
  await until(async () => (await succeeded(other)) === 3);
  expect(asked).toBe(24);

  release();
  await until(async () => (await succeeded(scope)) === flood);
  expect(asked).toBe(flood);
});
