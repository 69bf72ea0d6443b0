import fc from 'fast-check';
import type { Json, JsonObject } from '@parley/contracts';
import { createTestDatabase, rounds } from '@parley/testing';
import { type TestEntities, here, origin, startEntities } from '../testing/start-entities';

let t: TestEntities;
beforeAll(async () => {
  t = await startEntities(await createTestDatabase(), { segmentSize: 6 });
});
afterAll(() => t.stop());

type Row = { id: string; data: JsonObject; status: string };

// ── A reference implementation of docs/reference/data.md#filters and #sort
// ──────────────────────────────────────────

const bytes = (text: string): Buffer => Buffer.from(text, 'utf8');
const same = (a: Json | undefined, b: Json): boolean =>
  b === null ? (a ?? null) === null : a !== undefined && canonical(a) === canonical(b);
const canonical = (value: Json): string =>
  JSON.stringify(value, (_key, item: Json) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? { entries: Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)) }
      : item,
  );
function compare(a: Json | undefined, b: Json): number | null {
  if (typeof a === 'number' && typeof b === 'number') return a - b || 0;
  return typeof a === 'string' && typeof b === 'string' ? Buffer.compare(bytes(a), bytes(b)) : null;
}
const evaluate: Record<string, (value: Json | undefined, operand: Json) => boolean> = {
  $eq: same,
  $ne: (v, o) => !same(v, o),
  $neq: (v, o) => !same(v, o),
  $in: (v, o) => (o as Json[]).some((item) => same(v, item)),
  $nin: (v, o) => !(o as Json[]).some((item) => same(v, item)),
  $gt: (v, o) => (compare(v, o) ?? 0) > 0,
  $gte: (v, o) => (compare(v, o) ?? -1) >= 0,
  $lt: (v, o) => (compare(v, o) ?? 0) < 0,
  $lte: (v, o) => (compare(v, o) ?? 1) <= 0,
  $contains: (v, o) =>
    Array.isArray(v)
      ? v.some((item) => same(item, o))
      : typeof v === 'string' && typeof o === 'string' && v.includes(o),
  $exists: (v, o) => (v !== undefined) === o,
};
function valueAt(data: Json | undefined, path: string[]): Json | undefined {
  const [key, ...rest] = path;
  if (key === undefined) return data;
  if (typeof data !== 'object' || data === null || Array.isArray(data) || !Object.hasOwn(data, key))
    return undefined;
  return valueAt(data[key], rest);
}
const isOperators = (filter: Json): filter is JsonObject =>
  typeof filter === 'object' &&
  filter !== null &&
  Object.keys(filter).some((key) => key.startsWith('$'));
const matches = (row: Row, filters: JsonObject): boolean =>
  Object.entries(filters).every(([name, filter]) => {
    const value = name === 'id' ? row.id : valueAt(row.data, name.split('.').slice(1));
    const operators = isOperators(filter) ? filter : { $eq: filter };
    return Object.entries(operators).every(([operator, operand]) =>
      evaluate[operator]!(value, operand as Json),
    );
  });

/**
 * Sorts by kind, then by value. Absent values are last in both directions, equal ones in the
 * order of creation.
 */
function sorted(rows: Row[], field: string, direction: 'asc' | 'desc'): Row[] {
  const sign = direction === 'asc' ? 1 : -1;
  const keyed = rows.map((row, place) => ({
    row,
    place,
    value: valueAt(row.data, field.split('.').slice(1)),
  }));
  const order = (a: Json, b: Json): number => {
    if (rankOf(a) !== rankOf(b)) return rankOf(a) - rankOf(b);
    if (typeof a === 'number') return a < (b as number) ? -1 : a > (b as number) ? 1 : 0;
    if (typeof a !== 'string') return 0;
    return Buffer.compare(bytes(a).subarray(0, 100), bytes(b as string).subarray(0, 100));
  };
  keyed.sort((a, b) => {
    if (a.value === undefined || b.value === undefined)
      return (
        Number(a.value === undefined) - Number(b.value === undefined) || sign * (a.place - b.place)
      );
    return sign * (order(a.value, b.value) || a.place - b.place);
  });
  return keyed.map(({ row }) => row);
}
const rankOf = (value: Json): number => {
  if (value === null) return 0;
  if (typeof value === 'boolean') return value ? 2 : 1;
  return ['number', 'string', 'object'].indexOf(typeof value) + 3;
};

// ── Random entities and filters
// ─────────────────────────────────────────────────────────────────────────────────────

const long = 'x'.repeat(98);
const text = fc.oneof(
  fc.constantFrom(
    '',
    'a',
    'b',
    'ab',
    'abc',
    'Å',
    'é',
    'e\u0301',
    '😀',
    '😀a',
    '%',
    '_',
    "'",
    '"',
    '\\',
    '$1',
    'null',
  ),
  fc.constantFrom(
    `${long}`,
    `${long}y`,
    `${long}yé`,
    `${long}yéz1`,
    `${long}yéz2`,
    `${long}y😀`,
    `${long}x😀b`,
  ),
  fc
    .string({ unit: 'binary', maxLength: 5 })
    .filter((s) => !s.includes('\u0000') && s.isWellFormed()),
);
const number = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.constantFrom(-0, 0.1, -0.1, 0.1 + 0.2, 1e21, 1e308, -1e308, 5e-324, 2 ** 53, 123456789.25),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const scalar: fc.Arbitrary<Json> = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  number,
  number,
  text,
  text,
);
const value: fc.Arbitrary<Json> = fc.oneof(
  { weight: 6, arbitrary: scalar },
  { weight: 2, arbitrary: fc.array(scalar, { maxLength: 4 }) },
  { weight: 1, arbitrary: fc.array(fc.array(scalar, { maxLength: 2 }), { maxLength: 2 }) },
  { weight: 1, arbitrary: fc.constant(Array.from({ length: 40 }, (_, i) => i)) },
  {
    weight: 2,
    arbitrary: fc.dictionary(fc.constantFrom('x', 'y', '__proto__', 'a.b'), scalar, { maxKeys: 3 }),
  },
);
const key = fc.constantFrom('a', 'b', 'c', 'n', '__proto__', 'constructor', 'a.b', '💥');
const wide = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`w${i}`, i % 3]));
const entity: fc.Arbitrary<JsonObject> = fc.oneof(
  { weight: 30, arbitrary: fc.dictionary(key, value, { maxKeys: 6 }) },
  {
    weight: 1,
    arbitrary: fc.dictionary(key, value, { maxKeys: 3 }).map((some) => ({ ...wide, ...some })),
  },
);
const path = fc.constantFrom(
  ...[
    'a',
    'b',
    'c',
    'n',
    'n.x',
    'n.y',
    'a.x',
    'b.y',
    '__proto__',
    '__proto__.x',
    'n.__proto__',
    'constructor',
    '💥',
  ],
  ...['missing', 'a.b', 'a.0', 'w299', 'w1', 'n.x.y'],
);
const comparable = fc.oneof(number, text);
const condition: fc.Arbitrary<Json> = fc.oneof(
  value.filter(
    (v) => typeof v !== 'object' || v === null || Array.isArray(v) || Object.keys(v).length > 0,
  ),
  fc
    .array(
      fc.oneof(
        ...['$eq', '$ne', '$neq'].map((operator) => fc.tuple(fc.constant(operator), value)),
        ...['$in', '$nin'].map((operator) =>
          fc.tuple(fc.constant(operator), fc.array(value, { maxLength: 4 })),
        ),
        ...['$gt', '$gte', '$lt', '$lte'].map((operator) =>
          fc.tuple(fc.constant(operator), comparable),
        ),
        fc.tuple(fc.constant('$contains'), fc.oneof(number, text, fc.boolean())),
        fc.tuple(fc.constant('$exists'), fc.boolean()),
      ),
      { minLength: 1, maxLength: 2 },
    )
    .map((entries) => Object.fromEntries(entries) as JsonObject),
);
const filter = fc
  .array(fc.tuple(path, condition), { maxLength: 3 })
  .map(
    (entries) =>
      Object.fromEntries(entries.map(([name, operand]) => [`data.${name}`, operand])) as JsonObject,
  );
const sort = fc.option(
  fc.record({
    field: path.map((name) => `data.${name}`),
    direction: fc.constantFrom('asc' as const, 'desc' as const),
  }),
  { nil: undefined },
);
const query = fc.record({ filters: filter, sort, limit: fc.constantFrom(2, 7, 15, 60, 60, 60) });
const change = fc.record({
  at: fc.nat(),
  patch: fc.dictionary(key, value, { maxKeys: 2 }),
  status: fc.constantFrom(undefined, undefined, 'archived', 'deleted', 'active'),
});

const runs = rounds(4, 20);
const queriesPerRun = 110;

test(`${runs * queriesPerRun} random queries return the same entities as the reference implementation`, async () => {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`seed ${seed}`);
  let run = 0;
  let executed = 0;
  let nonEmpty = 0;
  const property = fc.asyncProperty(
    fc.array(entity, { minLength: 20, maxLength: 45 }),
    fc.array(change, { maxLength: 15 }),
    fc.array(query, { minLength: queriesPerRun, maxLength: queriesPerRun, size: 'max' }),
    async (data, changes, queries) => {
      const type = `set-${(run += 1)}`;
      await t.createType(type);
      const rows: Row[] = [];
      for (const one of data)
        rows.push({ id: await t.add(type, one), data: one, status: 'active' });
      for (const { at, patch, status } of changes) {
        const row = rows[at % rows.length]!;
        const result = await t.entities.update(here, {
          ...origin,
          type,
          id: row.id,
          data: patch,
          status,
        });
        expect(result.ok).toBe(row.status !== 'deleted' || status !== undefined);
        if (!result.ok) continue;
        row.data = { ...row.data, ...patch };
        row.status = status ?? row.status;
      }
      for (const [at, { filters, sort: by, limit }] of queries.entries()) {
        // The index ends at any entity: in the middle of a segment, before the first one, or
        // behind the last one.
        if (at % 10 === 0)
          await endIndexAt(type, rows[Math.floor((rows.length * at) / queriesPerRun)]!.id);
        for (const status of executed % 10 === 0 ? ['deleted', 'archived'] : [undefined]) {
          const visible = rows.filter((row) =>
            status === undefined ? row.status !== 'deleted' : row.status === status,
          );
          const expected = visible.filter((row) => matches(row, filters));
          const inOrder =
            by === undefined ? expected.toReversed() : sorted(expected, by.field, by.direction);
          const found = await readAll({ type, filters, sort: by, limit, status });
          if (JSON.stringify(found) !== JSON.stringify(inOrder.map(({ id }) => id))) {
            const name = (id: string): string =>
              canonical(rows.find((row) => row.id === id)?.data ?? null);
            const at = inOrder.findIndex(({ id }, index) => id !== found[index]);
            throw new Error(
              `${JSON.stringify({ filters, by, limit, status })}: ${found.length} found, ${inOrder.length} expected; at ${at}: ` +
                `${name(found[at] ?? '')} instead of ${name(inOrder[at]?.id ?? '')}`,
            );
          }
          if (found.length > 0) nonEmpty += 1;
        }
        executed += 1;
      }
    },
  );
  // fc.assert would print the complete data set of a failure.
  const outcome = await fc.check(property, { seed, numRuns: runs, endOnFailure: true });
  if (outcome.failed) throw new Error(`seed ${seed}: ${(outcome.errorInstance as Error).message}`);
  expect(executed).toBe(runs * queriesPerRun);
  expect(nonEmpty).toBeGreaterThan(executed / 5);
}, 900_000);

/**
 * Removes the index entries of this entity and of all newer ones, as if they had not
 * been indexed yet.
 */
async function endIndexAt(type: string, id: string): Promise<void> {
  await t.index(type);
  const { rows } = await t.db.pool.query<{ no: number; pos: string }>(
    `update entity_types set indexed_to = (select pos from entities where id = $2) where slug = $1 returning no, indexed_to as pos`,
    [type, id],
  );
  const { no, pos } = rows[0]!;
  await t.db.pool.query('delete from entity_fields where part in ($1, -$1::int) and pos >= $2', [
    no,
    pos,
  ]);
}

async function readAll(input: {
  type: string;
  filters: JsonObject;
  sort?: { field: string; direction: 'asc' | 'desc' };
  limit: number;
  status?: string;
}): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | undefined; ;) {
    const result = await t.entities.query(here, { ...input, cursor });
    if (!result.ok) throw new Error(JSON.stringify(result));
    ids.push(...result.page.entities.map(({ id }) => id));
    if (!result.page.hasMore) return ids;
    cursor = result.page.cursor;
  }
}
