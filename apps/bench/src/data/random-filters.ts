import type { Json, JsonObject } from '@parley/contracts';

/** mulberry32, so that all runs use the same filters. */
export function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * The operators of the API. A literal means `$eq`. The typed client adds `$contains` and `$exists`.
 */
export const operators = [
  '$eq',
  '$ne',
  '$in',
  '$nin',
  '$gt',
  '$gte',
  '$lt',
  '$lte',
  '$exists',
  '$contains',
] as const;
export type BenchOperator = (typeof operators)[number];

/**
 * A random condition on an undeclared field. It matches from none or 0.001 % up to all of the
 * 200,000 entities. The values follow the order of creation (`seq`), its reverse, or neither.
 */
export function randomFilter(operator: BenchOperator, next: () => number): JsonObject {
  const pick = <T>(values: readonly T[]): T => values[Math.floor(next() * values.length)]!;
  const share = 10 ** (-5 * next());
  const text = (): Json =>
    pick<() => Json>([
      () => `city-${Math.floor(next() * 70)}`,
      () => pick(['gold', 'silver', 'bronze', 'none', 'other']),
      () => pick(['same', 'other']),
    ])();
  const fieldOf = (value: Json): string =>
    typeof value !== 'string'
      ? 'score'
      : value.startsWith('city')
        ? 'city'
        : ['same', 'other'].includes(value)
          ? 'const'
          : 'tier';
  switch (operator) {
    case '$eq':
    case '$ne': {
      const value = next() < 0.2 ? null : next() < 0.5 ? text() : Math.floor(next() * 101);
      const field = value === null ? pick(['maybe', 'rare', 'name', 'missing']) : fieldOf(value);
      return { [`data.${field}`]: { [operator]: value } };
    }
    case '$in':
    case '$nin': {
      if (next() < 0.3) {
        const zips = Array.from({ length: 50 }, () =>
          String(Math.floor(next() * 99_999)).padStart(5, '0'),
        );
        return { 'data.address.zip': { [operator]: zips } };
      }
      const first = text();
      const values = [first, ...Array.from({ length: Math.floor(next() * 6) }, text)].filter(
        (v) => fieldOf(v) === fieldOf(first),
      );
      return { [`data.${fieldOf(first)}`]: { [operator]: values } };
    }
    case '$exists':
      return {
        [`data.${pick(['maybe', 'rare', 'name', 'missing', 'address.zip'])}`]: {
          $exists: next() < 0.5,
        },
      };
    case '$contains':
      return next() < 0.3
        ? { 'data.tags': { $contains: pick(['t1', 'u3', 'nothing']) } }
        : {
            [`data.${pick(['name', 'note', 'email'])}`]: {
              $contains: pick(['ab', '12', 'a1b', 'c0de', 'zzzz', 'w77']),
            },
          };
    default: {
      const upper = operator === '$gt' || operator === '$gte';
      const at = upper ? 1 - share : share;
      const [field, range] = pick([
        ['amount', 1_000_000],
        ['seq', 200_000],
        ['score', 100],
      ] as const);
      return { [`data.${field}`]: { [operator]: at * range } };
    }
  }
}
