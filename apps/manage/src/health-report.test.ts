import { type Operation, operationsOf } from '@parley/contracts';
import { saveIntegration, switchIntegration } from '@parley/db';
import { remedies } from './routes/health-report';
import { type TestApi, type World, createTestApi } from './testing/create-test-api';
import { insertExecution } from './testing/samples/executions';

let api: TestApi;
let world: World;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api.close());
beforeEach(async () => {
  world = await api.world();
});

const report = async (of = world) => (await of.call('get', '/v1/health-report').expect(200)).body;
const run = (text: string, ...values: unknown[]) =>
  api.db.pool.query(text, [world.scope.tenant, ...values]);

test('an environment without problems is healthy', async () => {
  await insertExecution(world);
  expect(await report()).toMatchObject({ isHealthy: true, problems: [] });
});

test('each kind of problem is counted with its oldest row and the way to retry it', async () => {
  await run(
    `insert into messages (id, tenant, environment, direction, contact, type, status, payload, created_at, updated_at)
     select 'm' || n || '-' || $1::int, $1::int, 'development', 'outbound', '569', 'text', (array['failed', 'unknown', 'held', 'sent'])[1 + n % 4], '{}',
       now() - n * interval '1 hour', now() from generate_series(0, 7) n`,
  );
  await run(
    `insert into emails (id, tenant, environment, idempotency_key, "from", "to", subject, status, updated_at)
     select 'e' || n || '-' || $1::int, $1::int, 'development', n, 'a', '{b}', 'Hi', (array['failed', 'unknown', 'bounced'])[1 + n % 3], now()
     from generate_series(0, 2) n`,
  );
  await run(
    `insert into webhook_deliveries (id, provider, delivery_id, path, headers, body, tenant, environment, status)
     select n || '-' || $1::int, 'kapso', n || '-' || $1::int, '/', '{}', '', $1::int, case when n < 2 then 'development'::"Environment" end,
       (array['failed', 'unattributed', 'failed', 'processed'])[1 + n]::"DeliveryStatus" from generate_series(0, 3) n`,
  );
  await run(
    `insert into channel_connections (id, tenant, environment, phone_number_id, webhook_attempts, updated_at)
     values ('c' || $1::int, $1::int, 'development', 'p' || $1::int, 3, now())`,
  );
  await run(
    `insert into payment_orders (payment_id, tenant, environment, lease_until)
     values ('p', $1, 'development', now() - interval '1 hour'), ('q', $1, 'development', now() + interval '1 hour')`,
  );
  const id = await insertExecution(world);
  await run(
    `update executions set status = 'running', lease_until = now() - interval '1 minute' where tenant = $1 and id = $2`,
    id,
  );

  const { isHealthy, problems } = await report();
  expect(isHealthy).toBe(false);
  const counts = problems.map(({ kind, count }: { kind: string; count: number }) => [kind, count]);
  expect(Object.fromEntries(counts)).toEqual({
    failed_messages: 2,
    unknown_messages: 2,
    failed_emails: 2,
    unknown_emails: 1,
    failed_webhook_deliveries: 2,
    unattributed_webhook_deliveries: 1,
    unregistered_connections: 1,
    interrupted_payments: 1,
    stalled_executions: 1,
    held_work: 2,
  });
  const failed = problems.find(({ kind }: { kind: string }) => kind === 'failed_messages');
  expect(failed).toMatchObject({
    operation: 'POST /v1/messages/:id/retry',
    command: 'parley messages retry ID',
    isCapped: false,
  });
  expect(Math.abs(Date.now() - 4 * 3_600_000 - failed.oldestAt)).toBeLessThan(60_000);
  const production = await report(await api.sibling(world, 'production'));
  expect(production.problems.map(({ kind }: { kind: string }) => kind)).toEqual([
    'failed_webhook_deliveries',
  ]);
  expect(await report(await api.world())).toMatchObject({ isHealthy: true });
});

test('each operation that a report names exists, and changes something', () => {
  const known = Object.values<Operation>(operationsOf.manage).map(
    ({ method, path }) => `${method.toUpperCase()} ${path}`,
  );
  const named = remedies.flatMap(({ operation }) => operation ?? []);
  expect(
    named.filter((operation) => !known.includes(operation) || operation.startsWith('GET')),
  ).toEqual([]);
  expect(new Set(remedies.map(({ kind }) => kind)).size).toBe(remedies.length);
});

test('counts end at 1,000', async () => {
  await run(
    `insert into trigger_runs (id, tenant, environment, trigger_slug, cause, status, run_at, context)
     select 'r' || n || '-' || $1::int, $1::int, 'development', 't', n, 'dead', now(), '{}' from generate_series(1, 1100) n`,
  );
  const { problems } = await report();
  expect(problems).toMatchObject([
    { kind: 'dead_trigger_runs', state: 'dead', count: 1000, isCapped: true },
  ]);
});

test('integrations that are switched off or cannot be read are named', async () => {
  const { db, deps } = api;
  for (const provider of ['resend', 'flow'])
    await saveIntegration(db, deps.box, world.scope, {
      provider,
      config: {},
      secrets: { apiKey: 'k' },
    });
  await switchIntegration(db, world.scope, 'resend', false);
  await run(`update integrations set secrets = '\\x00' where tenant = $1 and provider = 'flow'`);
  expect((await report()).problems).toMatchObject([
    { kind: 'unreadable_integrations', names: ['flow'], count: 1 },
    { kind: 'disabled_integrations', names: ['resend'], count: 1 },
  ]);
});
