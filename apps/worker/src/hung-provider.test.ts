import type { Scope } from '@parley/contracts';
import { type ProviderServer, seedOrganization, startProviderServer, until } from '@parley/testing';
import { type WebhookBench, phoneNumberId, startWebhooks } from './webhooks-under-test';

jest.setTimeout(120_000);

const backlog = 30;

let bench: WebhookBench;
let hung: ProviderServer;
const asked: string[] = [];
beforeAll(async () => {
  bench = await startWebhooks();
  hung = await startProviderServer(({ path }) => new Promise(() => void asked.push(path)));
});
afterAll(async () => {
  await hung.stop();
  await bench.close();
});

/** Messages to `count` contacts and as many e-mails, due now. */
async function addDue({ tenant }: Scope, connectionId: string, count: number): Promise<void> {
  await bench.db.pool.query(
    `insert into messages (id, tenant, environment, connection_id, direction, contact, type, text, payload,
                           status, lease_until, updated_at)
     select 'wam_' || $1::int || '_' || n, $1::int, 'development', $2, 'outbound', '1415555' || n, 'text', 'Hello',
            jsonb_build_object('to', '1415555' || n, 'type', 'text', 'text', '{"body":"Hello"}'::jsonb),
            'queued', now(), now()
     from generate_series(1000, 999 + $3::int) n`,
    [tenant, connectionId, count],
  );
  await bench.db.pool.query(
    `insert into emails (id, tenant, environment, idempotency_key, "from", "to", subject, status, payload,
                         lease_until, updated_at)
     select 'email_' || $1::int || '_' || n, $1::int, 'development', 'key' || n, 'a@b.cl', '{c@d.cl}', 'Hello', 'queued',
            '{"from":"a@b.cl","to":["c@d.cl"],"subject":"Hello","text":"Hello"}', now(), now()
     from generate_series(1, $2::int) n`,
    [tenant, count],
  );
}

test('an organization whose provider hangs does not hold up the messages and e-mails of another', async () => {
  const { scope } = bench.organization;
  for (const provider of ['kapso', 'resend'])
    await bench.db.pool.query(
      `insert into integrations (id, tenant, environment, provider, config, updated_at)
       values ('i_' || $2, $1, 'development', $2, $3, now())`,
      [scope.tenant, provider, { apiUrl: hung.url }],
    );
  await addDue(scope, bench.connectionId, backlog);
  // Four messages and four e-mails share the host, so four requests hang.
  await until(async () => asked.length >= 4);

  const { scope: other } = await seedOrganization(bench.db.pool, { slug: 'other', agents: [{ slug: 'helper' }] });
  await bench.db.pool.query(
    `insert into channel_connections (id, tenant, environment, phone_number_id, status, agent_slug, updated_at)
     values ('conn_other', $1, 'development', $2, 'connected', 'helper', now())`,
    [other.tenant, `9${phoneNumberId}`],
  );
  const startedAtMs = performance.now();
  await addDue(other, 'conn_other', 3);
  await until(async () => bench.kapso.sent.length === 3 && bench.resend.sent.length === 3);
  expect(performance.now() - startedAtMs).toBeLessThan(3_000);

  expect(asked).toHaveLength(4);
  const { rows } = await bench.db.pool.query<{ attempts: number; status: string }>(
    `select attempts, status from messages where tenant = $1
     union all select attempts, status from emails where tenant = $1`,
    [scope.tenant],
  );
  // Those that hang have been tried once; for the others nothing was asked.
  expect(rows.filter(({ status }) => status === 'failed' || status === 'unknown')).toEqual([]);
  expect(rows.filter(({ status, attempts }) => status === 'queued' && attempts > 0)).toEqual([]);
  expect(bench.kapso.problems).toEqual([]);
});
