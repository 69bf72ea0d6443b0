import { type KapsoServer, type Stack, startKapsoServer, startStack, until } from '@parley/testing';
import { push } from './client';
import {
  bytesOf,
  clerk,
  kapsoMessages,
  polar,
  sample,
  sign,
  unique,
  waitForDelivery,
} from './deliveries';
import { shared } from './stack';
import { type Tenant, createTenant } from './tenant';
import { openCommandLine, providerSettings } from './command-line';

jest.setTimeout(120_000);

const times = 100;
const commandLine = openCommandLine(providerSettings());
const stacks: Stack[] = [];
let tenant: Tenant;
let kapso: KapsoServer;
/** Three processes of webhook-ingest with one database, the first of them behind the gateway. */
let urls: string[];

beforeAll(async () => {
  kapso = await startKapsoServer();
  tenant = await createTenant();
  await push(await tenant.client(), {
    agents: [
      { slug: 'helper', name: 'Helper', systemPrompt: 'You help.', model: 'offline/scripted' },
    ],
  });
  const { databaseUrl, redisUrl, bundles, webhookSecrets } = shared;
  const environment = { SECRETS_KEY: shared.secretsKey, ...webhookSecrets };
  for (let more = 0; more < 2; more += 1)
    stacks.push(
      await startStack({
        databaseUrl,
        redisUrl,
        bundles,
        environment,
        services: ['webhook-ingest'],
      }),
    );
  urls = [shared.url, ...stacks.map(({ services }) => services['webhook-ingest']!.url)];
  const pids = stacks.map(({ services }) => services['webhook-ingest']!.pid);
  expect(new Set(pids).size).toBe(2);
  const set = [
    'integrations',
    'set',
    'kapso',
    '--org',
    tenant.slug,
    '--api-key',
    '-',
    '--api-url',
    kapso.url,
  ];
  const { key } = await tenant.client({ permissions: ['manage'] });
  await commandLine.parley(set, {
    input: kapso.apiKey,
    env: { PARLEY_URL: shared.url, PARLEY_API_KEY: key },
  });
}, 90_000);
afterAll(async () => {
  commandLine.close();
  await Promise.all(stacks.map((stack) => stack.stop()));
  await tenant.close();
  await kapso.stop();
}, 60_000);

/**
 * Posts one delivery a hundred times concurrently, to three processes in turn. Returns the
 * distinct replies.
 */
async function post(
  path: string,
  event: unknown,
  id: string,
  eventName?: string,
): Promise<unknown[]> {
  const body = bytesOf(event);
  const headers = {
    ...sign(path, body, { id, event: eventName }),
    'content-type': 'application/json',
  };
  const replies = await Promise.all(
    Array.from({ length: times }, async (_, at) => {
      const response = await fetch(urls[at % urls.length]! + path, {
        method: 'POST',
        body: new Uint8Array(body),
        headers,
      });
      return JSON.stringify([response.status, await response.json()]);
    }),
  );
  return [...new Set(replies)].map((reply) => JSON.parse(reply) as unknown);
}

it('an event that is sent a hundred times concurrently to three processes has one row, one effect and equal replies', async () => {
  const phoneNumberId = `3${unique()}`;
  await tenant.query(
    `insert into channel_connections (id, tenant, environment, phone_number_id, status, agent_slug, updated_at)
     values ($1, $2, 'development', $1, 'connected', 'helper', now())`,
    [phoneNumberId, tenant.scope.tenant],
  );
  const order = sample('polar/order.paid');
  Object.assign(order.data, { id: unique(), metadata: { organizationId: tenant.organizationId } });
  const message = sample('kapso/whatsapp.message.received');
  message.phone_number_id = message.conversation.phone_number_id = phoneNumberId;
  message.message.id = `wamid.${unique()}`;
  const membership = JSON.parse(
    JSON.stringify(sample('clerk/organizationMembership.created')).replaceAll('2zFixt', unique()),
  ) as { data: { id: string } };

  const ids = [`evt_${unique()}`, `key-${unique()}`, `msg_${unique()}`] as const;
  const replies = await Promise.all([
    post(polar, order, ids[0]),
    post(kapsoMessages, message, ids[1], 'whatsapp.message.received'),
    post(clerk, membership, ids[2]),
  ]);
  expect(replies).toEqual(ids.map(() => [[200, { received: true }]]));

  for (const id of ids) {
    expect((await waitForDelivery(tenant, id)).status).toBe('processed');
    const rows = await tenant.query(
      'select 1 from webhook_deliveries where starts_with(delivery_id, $1)',
      [id],
    );
    expect({ id, rows: rows.length }).toEqual({ id, rows: 1 });
  }
  await until(() => kapso.sent.length > 0);
  await until(async () => {
    const open = await tenant.query(
      "select 1 from messages where tenant = $1 and status in ('received', 'answering', 'queued', 'sending')",
      [tenant.scope.tenant],
    );
    return open.length === 0;
  });
  const counts = await tenant.query(
    `select (select count(*)::int from credit_entries where tenant = $1) as credits,
            (select sum(amount_cents)::int from credit_entries where tenant = $1) as balance,
            (select count(*)::int from messages where tenant = $1 and direction = 'inbound') as messages,
            (select count(*)::int from executions where tenant = $1) as turns,
            (select count(*)::int from memberships where external_id = $2) as memberships`,
    [tenant.scope.tenant, membership.data.id],
  );
  expect(counts).toEqual([{ credits: 1, balance: 5_000, messages: 1, turns: 1, memberships: 1 }]);
  expect(kapso.sent).toHaveLength(1);
});
