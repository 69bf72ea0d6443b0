import fc from 'fast-check';
import type { Json } from '@parley/contracts';
import { createTestDatabase } from '@parley/testing';
import { type TestEntities, startEntities } from '../testing/start-entities';
import { encodeValue, isTruncated } from './encode-value';
import { indexRows, overflowShape } from './index-rows';
import { positionOfId, positionRangeOf } from './position';

let t: TestEntities;
beforeAll(async () => {
  t = await startEntities(await createTestDatabase());
});
afterAll(() => t.stop());

const text = fc
  .string({ unit: 'binary', maxLength: 140 })
  .filter((s) => !s.includes('\u0000') && s.isWellFormed());
const scalar: fc.Arbitrary<Json> = fc.oneof(
  text,
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.boolean(),
  fc.constantFrom<Json>(
    null,
    [],
    {},
    -0,
    5e-324,
    -5e-324,
    1.7976931348623157e308,
    `${'a'.repeat(99)}😀`,
    '\\x41',
  ),
);

test('the SQL function entity_index_key returns the same keys', async () => {
  const values = fc.sample(scalar, 500);
  const { rows } = await t.db.pool.query<{ key: Buffer }>(
    `select entity_index_key(v) as key from unnest($1::jsonb[]) with ordinality u(v, n) order by n`,
    [values.map((value) => JSON.stringify(value))],
  );
  expect(rows.map(({ key }) => key.toString('hex'))).toEqual(
    values.map((value) => encodeValue(value).toString('hex')),
  );
});

test('keys sort in the order of their values', () => {
  const number = fc.double({ noNaN: true, noDefaultInfinity: true });
  fc.assert(
    fc.property(number, number, (a, b) => {
      expect(Math.sign(Buffer.compare(encodeValue(a), encodeValue(b)))).toBe(
        a < b ? -1 : a > b ? 1 : 0,
      );
    }),
  );
  fc.assert(
    fc.property(text, text, (a, b) => {
      const [left, right] = [encodeValue(a), encodeValue(b)];
      if (isTruncated(left) || isTruncated(right)) return;
      expect(Buffer.compare(left, right)).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
  );
  const kinds: Json[] = [null, false, true, -1, 0, 1, '', 'a', 'b', []];
  const keys = kinds.map(encodeValue);
  expect(keys.toSorted(Buffer.compare)).toEqual(keys);
});

test('an entity has one index row for each field, up to a limit', () => {
  const { fields, values, shape } = indexRows(
    { a: 1, b: { c: 'x', d: null }, e: ['p', 'p', 2, {}] },
    'active',
  );
  // status, a, b, e, the elements p and 2, b.c and b.d
  expect(fields).toHaveLength(8);
  expect(values).toHaveLength(8);
  expect(shape.fields).toHaveLength(5);
  const huge = indexRows(
    Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`f${i}`, i])),
    'active',
  );
  expect(huge.fields.length).toBeLessThanOrEqual(250);
  expect(huge.shape).toBe(overflowShape);
});

test('the position ranges of filters on ids and times contain every matching position', () => {
  const ms = 1_795_000_000_123n;
  const pos = (ms << 21n) | 77n;
  const id = `ent_${pos.toString(16).padStart(16, '0')}abcdefghij`;
  expect(positionOfId(id)).toBe(pos);
  for (const other of ['', 'ent_', 'ent_zzz', 'nothing', `ent_${'f'.repeat(16)}aaaaaaaaaa`, '💥']) {
    expect(positionOfId(other)).toBeNull();
  }
  const holds = (
    field: 'id' | 'createdAt',
    operator: '$eq' | '$gt' | '$gte' | '$lt' | '$lte',
    operand: Json,
  ): boolean => {
    const { lo, hi } = positionRangeOf([[{ field: { kind: field }, operator, operand }]]);
    return lo <= pos && pos <= hi;
  };
  expect(holds('id', '$eq', id)).toBe(true);
  for (const below of ['', 'a', 'ent', 'ent_', 'ent_0', id.slice(0, 9), id.slice(0, -1)]) {
    expect(holds('id', '$gt', below)).toBe(true);
  }
  for (const above of ['f', 'enu', 'ent_~', `${id}a`]) expect(holds('id', '$lt', above)).toBe(true);
  expect(holds('id', '$gt', 'f')).toBe(false);
  expect(holds('id', '$lt', 'a')).toBe(false);
  const time = Number(ms);
  expect(holds('createdAt', '$eq', time)).toBe(true);
  expect(holds('createdAt', '$gte', time)).toBe(true);
  expect(holds('createdAt', '$gt', time - 0.5)).toBe(true);
  expect(holds('createdAt', '$lt', time + 0.5)).toBe(true);
  expect(holds('createdAt', '$lt', time - 1)).toBe(false);
  expect(holds('createdAt', '$gt', time + 1)).toBe(false);
  for (const extreme of [-1e300, -1, 0, 1e300]) {
    expect(holds('createdAt', '$gt', extreme)).toBe(extreme <= 0);
    expect(holds('createdAt', '$lt', extreme)).toBe(extreme > 0);
  }
});
