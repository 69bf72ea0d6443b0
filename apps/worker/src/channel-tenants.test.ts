import { webhookSecretOf } from '@parley/channels';
import { seedOrganization, until } from '@parley/testing';
import { signBody } from '@parley/webhooks';
import {
  type WebhookServices,
  phoneNumberId,
  startWebhookServices,
} from '../testing/start-webhook-services';

jest.setTimeout(120_000);

const messages = '/webhook/kapso/messages';
const rivalNumber = '222222222222222';

let services: WebhookServices;
let rival: number;

beforeAll(async () => {
  services = await startWebhookServices();
  rival = (
    await seedOrganization(services.db.pool, { slug: 'rival', agents: [{ slug: 'helper' }] })
  ).scope.tenant;
  await services.db.pool.query(
    `insert into channel_connections (id, tenant, environment, phone_number_id, status, agent_slug, updated_at)
     values ('conn_rival', $1, 'development', $2, 'connected', 'helper', now())`,
    [rival, rivalNumber],
  );
});
afterAll(() => services.close());

const rows = async (sql: string, values: unknown[] = []): Promise<Record<string, unknown>[]> =>
  (await services.db.pool.query(sql, values)).rows;
const statusOf = async (id: string) =>
  (await rows('select status, error from messages where id = $1', [id]))[0];
const last = async () =>
  (
    await rows(
      'select status, tenant, reason from webhook_deliveries order by received_at desc limit 1',
    )
  )[0];

/**
 * Posts a body that is signed with the secret of a connection, as the organization of
 * the connection can.
 */
async function postAs(connectionId: string, event: string, body: object): Promise<number> {
  const signature = signBody(
    Buffer.from(JSON.stringify(body)),
    webhookSecretOf('kapso-secret', connectionId),
  );
  return services.postBody(messages, body, {
    headers: { 'X-Webhook-Event': event, 'X-Webhook-Signature': signature },
  });
}

async function report(
  connectionId: string,
  number: string,
  id: string,
  status: string,
): Promise<void> {
  const errors = status === 'failed' ? [{ code: 1, title: `of ${connectionId}` }] : [];
  const item = {
    message: { id, kapso: { status, statuses: [{ id, status, errors }] } },
    phone_number_id: number,
  };
  expect(await postAs(connectionId, `whatsapp.message.${status}`, item)).toBe(200);
  await until(async () => (await last())?.status !== 'received');
}

/**
 * Adds a message of the fixtures' connection. Without `messageId` the response to the send request
 * is not stored yet.
 */
const addMessage = (id: string, messageId: string | null) =>
  services.db.pool.query(
    `insert into messages (id, tenant, environment, connection_id, direction, message_id, contact, type, payload,
                           status, lease_until, updated_at)
     values ($1, $2, 'development', $3, 'outbound', $4, '1', 'text', '{}', $5, now() + interval '1 hour', now())`,
    [
      id,
      services.organization.scope.tenant,
      services.connectionId,
      messageId,
      messageId === null ? 'sending' : 'sent',
    ],
  );

const markSent = async (id: string, messageId: string) =>
  (await import('../../../libs/channels/src/whatsapp/outbox')).markSent(
    services.db,
    { ...services.organization.scope, id, connectionId: services.connectionId },
    messageId,
  );

test('a status that another organization signs for its own number is not applied to a message, in any order of arrival', async () => {
  await addMessage('wam_known', 'wamid.KNOWN');
  await report('conn_rival', rivalNumber, 'wamid.KNOWN', 'failed');
  expect(await last()).toMatchObject({ status: 'ignored', tenant: rival });
  await report(services.connectionId, phoneNumberId, 'wamid.KNOWN', 'delivered');
  expect(await statusOf('wam_known')).toEqual({ status: 'delivered', error: null });

  await addMessage('wam_early', null);
  await report('conn_rival', rivalNumber, 'wamid.EARLY', 'failed');
  await report(services.connectionId, phoneNumberId, 'wamid.EARLY', 'read');
  await markSent('wam_early', 'wamid.EARLY');
  expect(await statusOf('wam_early')).toEqual({ status: 'read', error: null });
});

test('a delivery that was accepted for one organization is not processed for another that now has the number', async () => {
  const { tenant } = services.organization.scope;
  const item = (id: string, number: string) => ({
    message: {
      id,
      timestamp: '1788264000',
      type: 'text',
      from: '14155559999',
      text: { body: 'hello' },
    },
    conversation: { phone_number: '14155559999' },
    phone_number_id: number,
  });
  const moveTo = (owner: number, environment: string) =>
    services.db.pool.query(
      'update channel_connections set tenant = $1, environment = $2::"Environment" where id = $3',
      [owner, environment, 'conn_rival'],
    );
  for (const [at, [owner, environment]] of (
    [
      [tenant, 'development'],
      [rival, 'production'],
    ] as const
  ).entries()) {
    await services.stopWorker();
    expect(
      await postAs(
        'conn_rival',
        'whatsapp.message.received',
        item(`wamid.MOVED${at}`, rivalNumber),
      ),
    ).toBe(200);
    await moveTo(owner, environment);
    services.startWorker();
    await services.settled();
    expect(await last()).toMatchObject({
      status: 'unattributed',
      tenant: rival,
      reason: `phone number ${rivalNumber} now belongs to another connection`,
    });
    await moveTo(rival, 'development');
  }
  expect(await rows("select id from messages where direction = 'inbound'")).toEqual([]);
  // After the number has moved back, a replay processes the deliveries.
  await services.db.pool.query(
    "update webhook_deliveries set status = 'received' where status = 'unattributed'",
  );
  await services.settled();
  expect(
    await rows("select message_id, tenant from messages where direction = 'inbound' order by 1"),
  ).toEqual([0, 1].map((at) => ({ message_id: `wamid.MOVED${at}`, tenant: rival })));
});

test('a number is disconnected by an event of the project even if its account refuses its key', async () => {
  services.kapso.beforeWebhookCall = async () => ({ status: 401, body: { error: 'No' } });
  const body = { phone_number_id: rivalNumber, customer: { id: 'c' } };
  const headers = { 'X-Webhook-Event': 'whatsapp.phone_number.deleted' };
  expect(await services.postBody('/webhook/kapso/project', body, { headers })).toBe(200);
  await services.settled();
  expect(await last()).toMatchObject({ status: 'processed' });
  expect(await rows("select id from channel_connections where id = 'conn_rival'")).toEqual([]);
});
