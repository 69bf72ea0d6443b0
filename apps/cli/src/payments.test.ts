import type { Db } from '@parley/db';
import { createEntities } from '@parley/entities';
import { type Payments, createPayments } from '@parley/payments';
import {
  type FlowServer,
  type SeededOrganization,
  seedOrganization,
  startFlowServer,
} from '@parley/testing';
import { type Cli, openCli } from './testing/run-command';
import { type ManageUnderTest, startManage } from './testing/manage-under-test';

const keys = { apiKey: 'KEY-1', secretKey: 'secret-1' };

let cli: Cli;
let stack: ManageUnderTest;
let db: Db;
let flow: FlowServer;
let shop: SeededOrganization;
let payments: Payments;
let env: Record<string, string>;
const parley = (...args: string[]) => cli.parley(args, { env });
const succeed = (...args: string[]) => cli.succeed(args, { env });

beforeAll(async () => {
  cli = openCli();
  stack = await startManage();
  ({ db } = stack);
  flow = await startFlowServer(keys);
  shop = await seedOrganization(db.pool, { slug: 'shop', permissions: ['manage'] });
  env = stack.envOf(shop.key);
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const entities = createEntities({ db });
  payments = createPayments({
    db,
    entities,
    box: stack.api.deps.box,
    publicUrl: 'https://svc.example.com',
    log,
  });
});
afterAll(async () => {
  expect(flow.problems).toEqual([]);
  await flow.stop();
  await stack.close();
  cli.remove();
});

async function make(description: string, ageMs = 0) {
  const wanted = { amount: 12_000, description, customerEmail: 'buyer@example.com' };
  const result = await payments.create(shop.scope, {
    ...wanted,
    actor: { type: 'system' },
    callKey: null,
  });
  if (!result.ok) throw new Error(result.message);
  await db.pool.query('update entities set created_at = created_at - $2 where id = $1', [
    result.paymentId,
    ageMs,
  ]);
  return { ...result, order: flow.orderOf(result.paymentLinkUrl) };
}
const hour = 3_600_000;

it('integrations set flow creates the payment type, and integrations test finds a wrong key', async () => {
  const set = ['integrations', 'set', 'flow', '--api-url', flow.url, '--api-key', keys.apiKey];
  await succeed(...set, '--secret-key', 'wrong');
  const refused = await parley('integrations', 'test', 'flow');
  expect(refused).toMatchObject({ exitCode: 1, stdout: '' });
  expect(refused.stderr).toContain('Invalid signature');
  expect(flow.problems.splice(0)).toHaveLength(1);
  await succeed(...set, '--secret-key', keys.secretKey);
  expect(await succeed('integrations', 'test', 'flow')).toContain('Flow accepts the keys');
  const { rows } = await db.pool.query('select slug, environment from entity_types');
  expect(rows).toEqual([{ slug: 'payment', environment: 'development' }]);
  const { stdout } = await parley('integrations', 'list');
  expect(stdout).not.toContain(keys.secretKey);
});

it('payments list has pages, and payments show prints events', async () => {
  expect((await parley('payments', 'list')).stderr).toContain(
    'No matching payments in development',
  );
  const one = await make('first');
  const two = await make('second \u001b[31m');
  const list = JSON.parse(await succeed('payments', 'list', '--limit', '1', '--json'));
  expect(list.data).toMatchObject([
    { id: two.paymentId, data: { status: 'pending', amount: 12_000 } },
  ]);
  const rest = JSON.parse(
    await succeed('payments', 'list', '--cursor', list.cursor, '--json', '--limit', '1'),
  );
  expect(rest).toMatchObject({ data: [{ id: one.paymentId }], hasMore: false });
  expect(await succeed('payments', 'list', '--status', 'pending')).toContain('second \\u001b[31m');
  expect((await parley('payments', 'list', '--cursor', 'x')).stderr).toContain('invalid_cursor');

  one.order.amount = 1;
  one.order.status = 2;
  await payments.confirmByToken(one.order.token);
  const shown = await succeed('payments', 'show', one.paymentId);
  expect(shown).toMatch(/status +pending/);
  expect(shown).toMatch(
    /payment\.created +by system\n.*payment\.link_created +by system\n.*payment\.mismatch/,
  );
  expect(shown).toContain('amount 1 is not 12000');
  const unknown = await parley('payments', 'show', 'ent_no');
  expect(unknown).toMatchObject({ exitCode: 1 });
  expect(unknown.stderr).toContain('Payment not found');
  await db.pool.query('delete from entities');
});

it('payments reconcile updates pending payments', async () => {
  const [paid, fresh] = [await make('old', hour), await make('fresh')];
  for (const { order } of [paid, fresh]) order.status = 2;
  const { stdout, stderr, exitCode } = await parley('payments', 'reconcile');
  expect({ stdout, exitCode }).toEqual({
    stdout: '1 checked, 1 paid, 0 failed, 0 unchanged, 0 mismatched\n',
    exitCode: 0,
  });
  expect(stderr).toContain('Checked 1 payments');
  const report = JSON.parse(await succeed('payments', 'reconcile', '--older-than', '0', '--json'));
  expect(report).toMatchObject({ asked: 1, paid: 1, failed: 0, unchanged: 0, problems: [] });
  const shown = JSON.parse(await succeed('payments', 'show', fresh.paymentId, '--json'));
  expect(shown).toMatchObject({ payment: { data: { status: 'paid' } }, attempts: 1 });
});

it('payments reconcile reports failures', async () => {
  await make('unanswered', hour);
  await make('unanswered', hour);
  flow.setFault('getStatusByFlowOrder', {
    kind: 'error',
    status: 400,
    body: { code: 1, message: 'closed' },
  });
  const some = await parley('payments', 'reconcile');
  expect(some).toMatchObject({
    exitCode: 1,
    stdout: '2 checked, 0 paid, 0 failed, 0 unchanged, 0 mismatched\n',
  });
  expect(some.stderr).toContain('error: The status of 2 of 2 payments could not be read');
  flow.setFault('getStatusByFlowOrder', null);
  expect(await parley('payments', 'reconcile', '--older-than', 'x')).toMatchObject({ exitCode: 2 });
});
