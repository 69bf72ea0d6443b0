import { isDeepStrictEqual } from 'node:util';
import { type FilterOperator, type Json, canonicalJson } from '@parley/contracts';
import { canonicalTexts } from '../canonical-texts';

/**
 * Evaluates a filter operator on a value in memory, with the same result as a query
 * (`filter-sql`): nothing is coerced, a null operand matches null and absent values, and
 * `undefined` is an absent value.
 */
export function matchesOperator(
  operator: FilterOperator,
  value: Json | undefined,
  operand: Json,
): boolean {
  switch (operator) {
    case '$eq':
      return isEqual(value, operand);
    case '$ne':
    case '$neq':
      return !isEqual(value, operand);
    case '$in':
      return Array.isArray(operand) && operand.some((item) => isEqual(value, item));
    case '$nin':
      return Array.isArray(operand) && !operand.some((item) => isEqual(value, item));
    case '$gt':
      return compare(value, operand, (order) => order > 0);
    case '$gte':
      return compare(value, operand, (order) => order >= 0);
    case '$lt':
      return compare(value, operand, (order) => order < 0);
    case '$lte':
      return compare(value, operand, (order) => order <= 0);
    case '$contains':
      if (Array.isArray(value)) return canonicalTexts(value).has(canonicalJson(operand));
      return typeof value === 'string' && typeof operand === 'string' && value.includes(operand);
    case '$exists':
      // Unlike filters, conditions of triggers are not restricted to true and false: any operand
      // but false counts as true.
      return (value !== undefined) === (operand !== false);
  }
}

/**
 * The value at a path; undefined if it is absent. A path leads through objects, not into arrays.
 */
export function valueAt(data: Json, path: readonly string[]): Json | undefined {
  let value: Json | undefined = data;
  for (const key of path) {
    if (
      typeof value !== 'object' ||
      value === null ||
      Array.isArray(value) ||
      !Object.hasOwn(value, key)
    )
      return;
    value = value[key];
  }
  return value;
}

/** Deep equality. A null operand matches null and absent values. */
export const isEqual = (value: Json | undefined, operand: Json): boolean =>
  operand === null
    ? value === undefined || value === null
    : value !== undefined && isDeepStrictEqual(value, operand);

/**
 * Compares numbers with numbers, and strings with strings by code point like
 * PostgreSQL's collation "C".
 */
function compare(
  value: Json | undefined,
  operand: Json,
  holdsFor: (order: number) => boolean,
): boolean {
  if (typeof value === 'number' && typeof operand === 'number') return holdsFor(value - operand);
  if (typeof value === 'string' && typeof operand === 'string') {
    // What follows the length of the shorter one decides nothing more, so that a condition costs as
    // much as its operand.
    const length = Math.min(value.length, operand.length) + 1;
    return holdsFor(
      Buffer.compare(Buffer.from(value.slice(0, length)), Buffer.from(operand.slice(0, length))),
    );
  }
  return false;
}
