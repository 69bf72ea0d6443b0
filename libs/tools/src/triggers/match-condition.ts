import { isDeepStrictEqual } from 'node:util';
import type { Json, JsonObject } from '@parley/contracts';

/** What a condition looks at: an event of an entity's change. */
export interface ChangedEntity {
  data: JsonObject;
  /** Null for a new entity. */
  previousData: JsonObject | null;
  status: string;
  previousStatus: string | null;
}

/**
 * Whether all of a trigger's `condition` holds for a change. Keys are `data.<path>`, `previousData.<path>`, `status` and
 * `previousStatus`; values are literals or operators that mean what they mean in a query (decisions.md, Data API):
 * nothing is coerced, and null stands for null or absent.
 */
export const matchesCondition = (condition: JsonObject | undefined, change: ChangedEntity): boolean =>
  Object.entries(condition ?? {}).every(([path, wanted]) => matchesValue(valueAt(change, path), wanted));

/** Paths lead through objects only, never into a list. */
function valueAt(change: ChangedEntity, path: string): Json | undefined {
  let value = change as unknown as Json | undefined;
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, key)) return;
    value = value[key];
  }
  return value;
}

function matchesValue(value: Json | undefined, wanted: Json): boolean {
  if (typeof wanted !== 'object' || wanted === null || Array.isArray(wanted)) return isEqual(value, wanted);
  const keys = Object.keys(wanted);
  if (!keys.some((key) => key.startsWith('$'))) return isEqual(value, wanted);
  return keys.every((operator) => holds(operator, value, wanted[operator]!));
}

function holds(operator: string, value: Json | undefined, operand: Json): boolean {
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
      return (value !== undefined) === operand;
    default:
      return false;
  }
}

const isEqual = (value: Json | undefined, wanted: Json): boolean =>
  wanted === null ? value === undefined || value === null : value !== undefined && isDeepStrictEqual(value, wanted);

/** Number with number and string with string, the latter by code point, as PostgreSQL's collation "C" does. */
function compare(value: Json | undefined, operand: Json, holdsFor: (order: number) => boolean): boolean {
  if (typeof value === 'number' && typeof operand === 'number') return holdsFor(value - operand);
  if (typeof value === 'string' && typeof operand === 'string') {
    return holdsFor(Buffer.compare(Buffer.from(value), Buffer.from(operand)));
  }
  return false;
}
