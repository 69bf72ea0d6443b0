import type { FilterOperator, Json, JsonObject } from '@parley/contracts';
import { isEqual, matchesOperator, valueAt } from '@parley/entities';

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
 * `previousStatus`; values are literals or operators that mean what they mean in a query (decisions.md, Data API).
 */
export const matchesCondition = (condition: JsonObject | undefined, change: ChangedEntity): boolean =>
  Object.entries(condition ?? {}).every(([path, wanted]) =>
    matchesValue(valueAt({ ...change }, path.split('.')), wanted),
  );

function matchesValue(value: Json | undefined, wanted: Json): boolean {
  if (typeof wanted !== 'object' || wanted === null || Array.isArray(wanted)) return isEqual(value, wanted);
  const keys = Object.keys(wanted);
  if (!keys.some((key) => key.startsWith('$'))) return isEqual(value, wanted);
  return keys.every((operator) => matchesOperator(operator as FilterOperator, value, wanted[operator]!));
}
