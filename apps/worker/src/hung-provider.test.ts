import type { Scope } from '@parley/contracts';
import { createSecretBox, saveIntegration } from '@parley/db';
import { type ProviderServer, seedOrganization, startProviderServer, until } from '@parley/testing';
import {
  type WebhookServices,
  phoneNumberId,
  startWebhookServices,
} from '../testing/start-webhook-services';

jest.setTimeout(120_000);

const backlog = 30;

let services: WebhookServices;
let hung: ProviderServer;
const asked: string[] = [];
beforeAll(async () => {
  services = await startWebhookServices();
  hung = await startProviderServer(({ path }) => new Promise(() => void asked.push(path)));
});
afterAll(async () => {
  await hung.stop();
  await services.close();
});

/** Adds `count` messages to different contacts and as many e-mails, all due now. */
async function addDue({ tenant }: Scope, connectionId: string, count: number): Promise<void> {
  await services.db.pool.query(
    `insert into messages (id, tenant, environment, connection_id, direction, contact, type, text, payload,
                           status, lease_until, updated_at)
     select 'wam_' || $1::int || '_' || n, $1::int, 'development', $2, 'outbound', '1415555' || n, 'text', 'Hello',
            jsonb_build_object('to', '1415555' || n, 'type', 'text', 'text', '{"body":"Hello"}'::jsonb),
            'queued', now(), now()
     from generate_series(1000, 999 + $3::int) n`,
    [tenant, connectionId, count],
  );
  await services.db.pool.query(
    `insert into emails (id, tenant, environment, idempotency_key, "from", "to", subject, status, payload,
                         lease_until, updated_at)
     select 'email_' || $1::int || '_' || n, $1::int, 'development', 'key' || n, 'a@b.cl', '{c@d.cl}', 'Hello', 'queued',
            '{"from":"a@b.cl","to":["c@d.cl"],"subject":"Hello","text":"Hello"}', now(), now()
     from generate_series(1, $2::int) n`,
    [tenant, count],
  );
}

test('an organization whose provider hangs does not delay the messages and e-mails of another', async () => {
  const { scope } = services.organization;
  const box = createSecretBox(Buffer.alloc(32).toString('base64'));
  for (const provider of ['kapso', 'resend'])
    await saveIntegration(services.db, box, scope, {
      provider,
      config: { apiUrl: hung.url },
      secrets: { apiKey: 'key' },
    });
  await addDue(scope, services.connectionId, backlog);
  // Four messages and four e-mails share the host, so four requests hang.
  await until(async () => asked.length >= 4);

  const { scope: other } = await seedOrganization(services.db.pool, {
    slug: 'other',
    agents: [{ slug: 'helper' }],
  });
  await services.db.pool.query(
    `insert into channel_connections (id, tenant, environment, phone_number_id, status, agent_slug, updated_at)
     values ('conn_other', $1, 'development', $2, 'connected', 'helper', now())`,
    [other.tenant, `9${phoneNumberId}`],
  );
  await addDue(other, 'conn_other', 3);
  await until(async () => services.kapso.sent.length === 3 && services.resend.sent.length === 3);

  // The four requests still hang: none ended, so that another one of the backlog took its place.
  expect(asked).toHaveLength(4);
  const { rows } = await services.db.pool.query<{ attempts: number; status: string }>(
    `select attempts, status from messages where tenant = $1
     union all select attempts, status from emails where tenant = $1`,
    [scope.tenant],
  );
  // The hanging ones have one attempt; the others have none.
  expect(rows.filter(({ status }) => status === 'failed' || status === 'unknown')).toEqual([]);
  expect(rows.filter(({ status, attempts }) => status === 'queued' && attempts > 0)).toEqual([]);
  expect(services.kapso.problems).toEqual([]);
});
