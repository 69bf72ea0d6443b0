import { createTestDatabase } from '@parley/testing';
import { purgeEntities } from './purge-entities';
import { targetIds } from './relations';
import { type TestEntities, here, origin, startEntities } from './testing/start-entities';

let t: TestEntities;
beforeAll(async () => {
  t = await startEntities(await createTestDatabase());
  await t.createType('order');
  await t.createType('payment');
});
afterAll(() => t.stop());

test('a relation is stored once, found from both entities, and deleted', async () => {
  const order = await t.add('order', {});
  const payment = await t.add('payment', {});
  const link = { relation: 'payment_for', fromId: payment, toId: order };
  expect(await t.entities.link(here, link)).toEqual({ ok: true });
  expect(await t.entities.link(here, link)).toEqual({ ok: true });
  expect(await t.entities.relatedIds(here, { entityId: order })).toEqual([payment]);
  expect(
    await t.entities.relatedIds(here, {
      entityId: payment,
      type: 'order',
      relation: 'payment_for',
    }),
  ).toEqual([order]);
  expect(await t.entities.relatedIds(here, { entityId: payment, type: 'payment' })).toEqual([]);
  expect(await t.entities.link(here, { ...link, toId: 'ent_nothing' })).toEqual({
    ok: false,
    reason: 'not_found',
  });
  const page = {
    data: [
      { relation: 'payment_for', direction: 'incoming', entity: { type: 'payment', id: payment } },
    ],
  };
  expect(await t.entities.relations(here, { entityId: order, limit: 5 })).toMatchObject({
    ok: true,
    page,
  });
  await t.entities.remove(here, { ...origin, type: 'order', id: order });
  expect(await t.entities.relatedIds(here, { entityId: payment })).toEqual([]);
  expect(await targetIds(t.db, here, { fromId: payment, relation: 'payment_for' })).toEqual([
    order,
  ]);
  await t.entities.update(here, { ...origin, type: 'order', id: order, status: 'active' });
  await t.entities.unlink(here, link);
  expect(await t.entities.relatedIds(here, { entityId: payment })).toEqual([]);
  expect(await targetIds(t.db, here, { fromId: payment, relation: 'payment_for' })).toEqual([]);
});

test('a purge deletes everything of one organization and nothing of another', async () => {
  const other = { organizationId: 'org_stays', tenant: 6, environment: 'development' as const };
  await t.createType('order', { scope: other });
  const kept = await t.add('order', { n: 1 }, undefined, other);
  for (let n = 0; n < 25; n += 1) await t.add('order', { n }, n % 3 === 0 ? 'deleted' : undefined);
  await t.index('order');
  await t.index('order', other);
  let purged = 0;
  for (let count = -1; count !== 0; purged += count) count = await purgeEntities(t.db, here);
  expect(purged).toBe(27);
  for (const table of ['entities', 'entity_fields', 'entity_shapes', 'entity_relations']) {
    const { rows } = await t.db.pool.query(`select count(*)::int as n from ${table}`);
    expect([table, rows[0].n > 0]).toEqual([table, table !== 'entity_relations']);
  }
  const found = await t.entities.query(other, {
    type: 'order',
    limit: 10,
    filters: { 'data.n': 1 },
  });
  expect(found.ok && found.page.entities.map(({ id }) => id)).toEqual([kept]);
  const { rows } = await t.db.pool.query(
    `select count(*)::int as n from entity_fields where part not in (select part from entities)`,
  );
  expect(rows[0].n).toBe(0);
});
