import type { FilterOperator, JsonObject, RouterDefinition } from '@parley/contracts';
import { matchesOperator, valueAt } from '@parley/entities';

type Rule = NonNullable<RouterDefinition['rules']>[number];
type Condition = Rule['conditions'][number];

/** `customer.status` is the field `status` of the entity of type `customer`. */
function splitField(field: string): { entityType: string; path: string[] } {
  const [entityType = '', ...path] = field.split('.');
  return { entityType, path: path[0] === 'data' && path.length > 1 ? path.slice(1) : path };
}

/** Types that the rules speak of, each once. */
export const typesOfRules = (rules: readonly Rule[]): string[] => [
  ...new Set(rules.flatMap((rule) => rule.conditions.map(({ field }) => splitField(field).entityType))),
];

/** The agent of the first rule whose conditions all hold; null when none does. `entities` holds `data` by type. */
export function matchRules(rules: readonly Rule[], entities: ReadonlyMap<string, JsonObject>): string | null {
  const rule = rules.find(({ conditions }) => conditions.every((condition) => holds(condition, entities)));
  return rule?.route ?? null;
}

function holds({ field, operator, value: expected }: Condition, entities: ReadonlyMap<string, JsonObject>): boolean {
  const { entityType, path } = splitField(field);
  const data = entities.get(entityType);
  const inQuery = (operator.startsWith('$') ? operator : `$${operator}`) as FilterOperator;
  // Nothing can be said of an entity that was not found, not even that something is absent from it.
  if (path.length === 0) return inQuery === '$exists' && (data !== undefined) === (expected !== false);
  // A field that holds null counts as absent here.
  return data !== undefined && matchesOperator(inQuery, valueAt(data, path) ?? undefined, expected);
}
