import type { FilterOperator, JsonObject, RouterDefinition } from '@parley/contracts';
import { matchesOperator, valueAt } from '@parley/entities';

type Rule = NonNullable<RouterDefinition['rules']>[number];
type Condition = Rule['conditions'][number];

/** `customer.status` is the field `status` of the entity of type `customer`. */
function splitField(field: string): { entityType: string; path: string[] } {
  const [entityType = '', ...path] = field.split('.');
  return { entityType, path: path[0] === 'data' && path.length > 1 ? path.slice(1) : path };
}

/** The entity types that the rules name, each once. */
export const typesOfRules = (rules: readonly Rule[]): string[] => [
  ...new Set(
    rules.flatMap((rule) => rule.conditions.map(({ field }) => splitField(field).entityType)),
  ),
];

/**
 * The agent of the first rule whose conditions are all met; null when there is none. `entities`
 * maps entity types to `data`.
 */
export function matchRules(
  rules: readonly Rule[],
  entities: ReadonlyMap<string, JsonObject>,
): string | null {
  const rule = rules.find(({ conditions }) =>
    conditions.every((condition) => isMet(condition, entities)),
  );
  return rule?.route ?? null;
}

function isMet(
  { field, operator, value: expected }: Condition,
  entities: ReadonlyMap<string, JsonObject>,
): boolean {
  const { entityType, path } = splitField(field);
  const data = entities.get(entityType);
  const queryOperator = (operator.startsWith('$') ? operator : `$${operator}`) as FilterOperator;
  // If the entity was not found, no condition on its fields is met, including `$exists: false`.
  if (path.length === 0)
    return queryOperator === '$exists' && (data !== undefined) === (expected !== false);
  // In routing rules a field with the value null counts as absent.
  return (
    data !== undefined && matchesOperator(queryOperator, valueAt(data, path) ?? undefined, expected)
  );
}
