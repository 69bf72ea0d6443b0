import { type FilterOperator, type Json, filterOperators } from '@parley/contracts';
import { createTestDatabase } from '@parley/testing';
import { type TestEntities, here, origin, startEntities } from '../testing/start-entities';
import { matchesOperator, valueAt } from './matches-operator';

/** `undefined` is an absent value. */
const values: (Json | undefined)[] = [
  ...[undefined, null, 0, 5, 5.5, '', '5', 'ab', 'abc', 'ß', '\u{1f600}', '\uffee', true, false],
  ...[[], [1, 'a', null], [['a']], {}, { a: 1, b: [2] }, { b: [2], a: 1 }],
];
const plain = values.filter((value) => value !== undefined);
const comparable = plain.filter((value) => typeof value === 'number' || typeof value === 'string');
const lists = [[], [null], [5, 'ab'], [{ b: [2], a: 1 }, true]];
const operands: Record<FilterOperator, Json[]> = {
  $eq: plain,
  $ne: plain,
  $neq: plain,
  $in: lists,
  $nin: lists,
  $gt: comparable,
  $gte: comparable,
  $lt: comparable,
  $lte: comparable,
  $contains: [...comparable, true],
  $exists: [true, false],
};

let t: TestEntities;
beforeAll(async () => {
  t = await startEntities(await createTestDatabase());
  await t.createType('thing');
  for (const [at, value] of values.entries()) {
    const data = { at, ...(value !== undefined && { value }) };
    expect(await t.entities.create(here, { ...origin, type: 'thing', data })).toMatchObject({
      ok: true,
    });
  }
});
afterAll(() => t.stop());

test.each(filterOperators)(
  '%s matches the same values in memory as in a query',
  async (operator) => {
    for (const operand of operands[operator]) {
      const filters = { 'data.value': { [operator]: operand } };
      const result = await t.entities.query(here, { type: 'thing', filters, limit: 100 });
      if (!result.ok)
        throw new Error(`${operator} ${JSON.stringify(operand)}: ${JSON.stringify(result)}`);
      const page = JSON.parse(result.page.json) as { data: { data: { at: number } }[] };
      const found = page.data.map(({ data }) => data.at).sort((a, b) => a - b);
      const held = values.flatMap((value, at) =>
        matchesOperator(operator, value, operand) ? [at] : [],
      );
      expect({ operand, held }).toEqual({ operand, held: found });
    }
  },
);

test('a path leads through objects, not into arrays or prototypes', () => {
  const data = { a: { b: [1], c: null } };
  expect(valueAt(data, ['a', 'b'])).toEqual([1]);
  expect(valueAt(data, ['a', 'c'])).toBeNull();
  for (const path of [['a', 'b', '0'], ['a', 'c', 'd'], ['x'], ['__proto__'], ['a', 'constructor']])
    expect(valueAt(data, path)).toBeUndefined();
});

test('many conditions on one long value take as long as few', () => {
  const took = (conditions: number): number => {
    const list = Array.from({ length: 20_000 }, (_, n) => ({ n }));
    const text = 'x'.repeat(1_000_000);
    const startedMs = performance.now();
    for (let n = 0; n < conditions; n += 1) {
      expect(matchesOperator('$contains', list, { n: -n - 1 })).toBe(false);
      expect(matchesOperator('$gt', text, `y${n}`)).toBe(false);
    }
    return performance.now() - startedMs;
  };
  took(1);
  // A comparison for each condition would take 300 times as long.
  // wall clock: a ratio of two times of this process.
  expect(took(300)).toBeLessThan(30 * took(1));
});
