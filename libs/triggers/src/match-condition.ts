import type { FilterOperator, Json, JsonObject } from '@parley/contracts';
import { isEqual, matchesOperator, valueAt } from '@parley/entities';

/** The change of an entity, as its event records it. */
export interface ChangedEntity {
  data: JsonObject;
  /** Null for a new entity. */
  previousData: JsonObject | null;
  status: string;
  previousStatus: string | null;
  /**
   * Whether the event has only some keys of a large entity
   * (docs/reference/triggers.md#large-entities).
   */
  isPartial?: true;
}

/**
 * Whether all conditions of a trigger are true for a change
 * (docs/reference/triggers.md#conditions). Keys are `data.<path>`, `previousData.<path>`, `status`
 * and `previousStatus`; values are literals or the operators of queries.
 */
export const matchesCondition = (
  condition: JsonObject | undefined,
  change: ChangedEntity,
): boolean =>
  Object.entries(condition ?? {}).every(([path, wanted]) =>
    matchesValue(valueAt({ ...change }, path.split('.')), wanted),
  );

function matchesValue(value: Json | undefined, wanted: Json): boolean {
  if (typeof wanted !== 'object' || wanted === null || Array.isArray(wanted))
    return isEqual(value, wanted);
  const keys = Object.keys(wanted);
  if (!keys.some((key) => key.startsWith('$'))) return isEqual(value, wanted);
  return keys.every((operator) =>
    matchesOperator(operator as FilterOperator, value, wanted[operator]!),
  );
}
