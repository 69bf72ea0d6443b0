import { isDeepStrictEqual } from 'node:util';
import type { FilterOperator, Json } from '@parley/contracts';

/**
 * Whether an operator of a filter holds for a value that is at hand, as it would in a query (filter-sql): nothing is
 * coerced, and null stands for null or absent. `undefined` is an absent value.
 */
export function matchesOperator(operator: FilterOperator, value: Json | undefined, operand: Json): boolean {
  switch (operator) {
    case '$eq':
      return isEqual(value, operand);
    case '$ne':
    case '$neq':
      return !isEqual(value, operand);
    case '$in':
      return Array.isArray(operand) && operand.some((one) => isEqual(value, one));
    case '$nin':
      return Array.isArray(operand) && !operand.some((one) => isEqual(value, one));
    case '$gt':
      return compare(value, operand, (order) => order > 0);
    case '$gte':
      return compare(value, operand, (order) => order >= 0);
    case '$lt':
      return compare(value, operand, (order) => order < 0);
    case '$lte':
      return compare(value, operand, (order) => order <= 0);
    case '$contains':
      if (Array.isArray(value)) return value.some((one) => isDeepStrictEqual(one, operand));
      return typeof value === 'string' && typeof operand === 'string' && value.includes(operand);
    case '$exists':
      // Conditions are not held to true and false, as a query's are.
      return (value !== undefined) === (operand !== false);
  }
}

/** A value below an object; undefined when it is absent. Paths lead through objects only, never into a list. */
export function valueAt(data: Json, path: readonly string[]): Json | undefined {
  let value: Json | undefined = data;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, key)) return;
    value = value[key];
  }
  return value;
}

export const isEqual = (value: Json | undefined, wanted: Json): boolean =>
  wanted === null ? value === undefined || value === null : value !== undefined && isDeepStrictEqual(value, wanted);

/** Number with number and string with string, the latter by code point, as PostgreSQL's collation "C" does. */
function compare(value: Json | undefined, operand: Json, holdsFor: (order: number) => boolean): boolean {
  if (typeof value === 'number' && typeof operand === 'number') return holdsFor(value - operand);
  if (typeof value === 'string' && typeof operand === 'string') {
    return holdsFor(Buffer.compare(Buffer.from(value), Buffer.from(operand)));
  }
  return false;
}
