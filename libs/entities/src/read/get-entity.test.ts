import type { Scope } from '@parley/contracts';
import { createTestDatabase } from '@parley/testing';
import { type TestEntities, here, origin, startEntities } from '../testing/start-entities';

const there: Scope = { ...here, organizationId: 'org_there', tenant: 8 };
let t: TestEntities;
beforeAll(async () => {
  t = await startEntities(await createTestDatabase());
  await t.db.pool.query(
    `insert into organizations (id, no, slug, name, updated_at) values ($1, $2, 'there', 'There', now())`,
    [there.organizationId, there.tenant],
  );
  for (const scope of [here, there]) await t.createType('item', { scope });
});
afterAll(() => t.stop());

const outcome = async (scope: Scope, id: string, type = 'item'): Promise<unknown> => {
  const found = await t.entities.get(scope, { type, id });
  return found.ok ? found.entity.value.data : found.reason;
};

test('reads that arrive together have each their own result', async () => {
  const ids = await Promise.all(Array.from({ length: 40 }, (_, n) => t.add('item', { n })));
  const foreign = await t.add('item', { n: 'there' }, undefined, there);
  const deleted = await t.add('item', { n: 'deleted' });
  await t.entities.remove(here, { ...origin, type: 'item', id: deleted });
  const asked = ids.flatMap((id, n) => [
    [outcome(here, id), { n }] as const,
    [outcome(there, id), 'not_found'] as const,
    [outcome(here, foreign), 'not_found'] as const,
    [outcome(there, foreign), { n: 'there' }] as const,
    [outcome(here, deleted), 'deleted'] as const,
    [outcome(here, 'ent_\u0000'), 'not_found'] as const,
    [outcome(here, `ent_missing${n}`), 'not_found'] as const,
    [outcome(here, id, 'missing'), 'type_not_found'] as const,
  ]);
  expect(await Promise.all(asked.map(([found]) => found))).toEqual(
    asked.map(([, expected]) => expected),
  );
});

test('a read sees the writes that were answered before it, also while other reads run', async () => {
  const id = await t.add('item', { n: 0 });
  let isDone = false;
  const others = Array.from({ length: 8 }, async () => {
    while (!isDone) await outcome(here, id);
  });
  for (let n = 1; n <= 100; n += 1) {
    await t.entities.update(here, { ...origin, type: 'item', id, data: { n } });
    expect(await outcome(here, id)).toEqual({ n });
  }
  isDone = true;
  await Promise.all(others);
});
