import type { JsonObject } from '@parley/contracts';
import { createTestDatabase } from '@parley/testing';
import { type TestEntities, here, origin, startEntities } from '../testing/start-entities';

let t: TestEntities;
beforeAll(async () => {
  t = await startEntities(await createTestDatabase());
  await t.createType('note');
});
afterAll(() => t.stop());

const kib = 1_024;
const text = (bytes: number) => 'ä'.repeat(bytes / 2);
const create = (data: JsonObject) => t.entities.create(here, { ...origin, type: 'note', data });
const update = (id: string, data: JsonObject, status?: string) =>
  t.entities.update(here, { ...origin, type: 'note', id, data, ...(status && { status }) });
const tooLarge = { ok: false, reason: 'too_large', bytes: expect.any(Number) };
const stored = async (id: string) => {
  const { rows } = await t.db.pool.query<{ data: JsonObject; bytes: number; events: number }>(
    `select data, octet_length(data::text) as bytes, (select count(*)::int from events v where v.entity_id = e.id) as events
     from entities e where id = $1`,
    [id],
  );
  return rows[0]!;
};

test('data of up to 1 MiB as PostgreSQL returns it can be created, and no more', async () => {
  const frame = '{"a": ""}'.length;
  expect(await create({ a: text(1_024 * kib - frame - 1) })).toMatchObject({ ok: true });
  expect(await create({ a: text(1_024 * kib - frame + 1) })).toEqual(tooLarge);
  // 7 bytes of a request, 303 bytes of an answer.
  expect(await create({ a: Array(5_000).fill(1e300) })).toEqual({
    ...tooLarge,
    bytes: 5_000 * 303 + frame - 2,
  });
});

test('of concurrent patches those that fit are kept, and a refused one writes nothing and no event', async () => {
  const id = await t.add('note', { n: 0 });
  const patches = Array.from({ length: 8 }, (_, n) => ({ [`key${n}`]: text(300 * kib) }));
  const results = await Promise.all(patches.map((patch) => update(id, patch)));
  expect(results.filter(({ ok }) => ok)).toHaveLength(3);
  expect(results.filter(({ ok }) => !ok)).toEqual(Array(5).fill(tooLarge));
  const { data, events } = await stored(id);
  expect(Object.keys(data).sort()).toEqual(
    ['n', ...patches.flatMap((patch, n) => (results[n]!.ok ? Object.keys(patch) : []))].sort(),
  );
  expect(events).toBe(1 + 3);
  expect(await update(id, { n: 1 })).toMatchObject({ ok: true });
});

test('a larger entity from before the limit stays readable, may shrink, keep its size, be deleted and restored', async () => {
  const id = await t.add('note', { a: 1 });
  await t.db.pool.query(`update entities set data = data || $2 where id = $1`, [
    id,
    { b: text(2_000 * kib), c: text(1_000 * kib), kind: 'x' },
  ]);
  const { bytes } = await stored(id);
  expect(await t.entities.get(here, { type: 'note', id })).toMatchObject({ ok: true });
  expect(await update(id, { more: 1 })).toEqual(tooLarge);
  expect(await stored(id)).toMatchObject({ bytes, events: 1 });
  expect(await update(id, { kind: 'y' }, 'other')).toMatchObject({ ok: true });
  expect(await t.entities.remove(here, { ...origin, type: 'note', id })).toEqual({ ok: true });
  expect(await update(id, {}, 'active')).toMatchObject({ ok: true });
  expect(await update(id, { b: 'short' })).toMatchObject({ ok: true });
  expect(await update(id, { c: null })).toMatchObject({ ok: true });
});

test('a change of the product itself is made whatever the size', async () => {
  const id = await t.add('note', { a: text(1_023 * kib) });
  const change = { ...origin, type: 'note', id, onlyIf: {}, data: { paid: text(2 * kib) } };
  expect(await t.entities.updateIf(here, change)).toEqual(tooLarge);
  expect(await t.entities.updateIf(here, { ...change, anySize: true })).toMatchObject({ ok: true });
});
