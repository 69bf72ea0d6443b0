import type { Scope } from '@parley/contracts';
import {
  type FlowServer,
  createTestDatabase,
  rounds,
  seedOrganization,
  startFlowServer,
} from '@parley/testing';
import { buildChild, removeChild, startChild } from './testing/start-child';
import { type TestPayments, newKeys, startPayments, paymentInput } from './testing/start-payments';

/** The full size is the one measured in docs/adr/0024. */
const paymentCount = rounds(100, 500);
const processCount = rounds(4, 8);

let flow: FlowServer;
let t: TestPayments;
beforeAll(async () => {
  buildChild();
  flow = await startFlowServer();
}, 60_000);
afterAll(async () => {
  await t.stop();
  await flow.stop();
  removeChild();
});

it(`each of ${paymentCount} payments is paid once by webhook and reconciliation in ${processCount} processes`, async () => {
  const database = await createTestDatabase();
  t = startPayments(database, flow);
  // One integration per process, because an integration is reconciled by one run at a time.
  const scopes: Scope[] = [];
  for (let at = 0; at < processCount; at += 1) {
    const keys = newKeys();
    flow.addAccount(keys);
    const { scope } = await seedOrganization(t.db.pool);
    await t.configure(scope, keys);
    scopes.push(scope);
  }
  for (let at = 0; at < paymentCount; at += 10) {
    await Promise.all(
      Array.from({ length: Math.min(10, paymentCount - at) }, (_, n) =>
        t.payments.create(scopes[(at + n) % scopes.length]!, {
          ...paymentInput,
          callKey: `race-${at + n}`,
        }),
      ),
    );
  }
  expect(flow.orders).toHaveLength(paymentCount);
  for (const order of flow.orders) order.status = 2;

  const task = { databaseUrl: database.url, secretsKey: t.secretsKey, race: true } as const;
  const children = Array.from({ length: processCount }, () => startChild(task));
  for (const child of children) expect(await child.line()).toBe('ready');
  for (const child of children) child.write('go\n');
  const reports = await Promise.all(
    children.map(async (child) => JSON.parse(await child.line()) as { changed: number }),
  );
  await Promise.all(children.map(({ ended }) => ended));
  // A process that lost its connection at the commit does not count its change.
  expect(reports.reduce((sum, { changed }) => sum + changed, 0)).toBeLessThanOrEqual(paymentCount);

  const paid = await paidPayments();
  expect(paid).toHaveLength(paymentCount);
  for (const payment of paid) {
    // `changes`: events that fire triggers. `times`: distinct values of paidAt ever written.
    expect(payment).toMatchObject({ status: 'paid', events: 1, changes: 1, times: 1 });
  }
  const late = flow.orders.slice(0, 20);
  for (const { token } of late)
    expect(await t.payments.confirmByToken(token)).toMatchObject({ changed: false });
  await t.payments.reconcile({ olderThanMs: 0, perSecond: 10_000 });
  expect(await paidPayments()).toEqual(paid);
}, 1_200_000);

async function paidPayments() {
  const { rows } = await t.db.pool.query(
    `select e.id, e.data ->> 'status' as status, e.data -> 'paidAt' as "paidAt",
       count(*) filter (where v.type = 'payment.paid')::int as events,
       count(*) filter (where v.type = 'entity.updated' and v.payload #>> '{data,status}' = 'paid')::int as changes,
       count(distinct v.payload #> '{data,paidAt}')::int as times
     from entities e join events v on v.entity_id = e.id
     where e.data ? 'amount' group by e.id, e.data order by e.id`,
  );
  return rows;
}
