import type { Json, JsonObject, RouterDefinition } from '@parley/contracts';

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
  // Nothing can be said of an entity that was not found, not even that something is absent from it.
  if (data === undefined) return operator.replace('$', '') === 'exists' && expected === false && path.length === 0;
  if (path.length === 0) return operator.replace('$', '') === 'exists' && expected !== false;
  const value = valueAt(data, path);
  switch (operator.replace('$', '')) {
    case 'eq':
      return isEqual(value, expected);
    case 'ne':
    case 'neq':
      return !isEqual(value, expected);
    case 'in':
      return Array.isArray(expected) && expected.some((one) => isEqual(value, one));
    case 'nin':
      return Array.isArray(expected) && !expected.some((one) => isEqual(value, one));
    case 'gt':
      return compare(value, expected, (order) => order > 0);
    case 'gte':
      return compare(value, expected, (order) => order >= 0);
    case 'lt':
      return compare(value, expected, (order) => order < 0);
    case 'lte':
      return compare(value, expected, (order) => order <= 0);
    case 'contains':
      if (Array.isArray(value)) return value.some((one) => isEqual(one, expected));
      return typeof value === 'string' && typeof expected === 'string' && value.includes(expected);
    case 'exists':
      return (value !== null) === (expected !== false);
    default:
      return false;
  }
}

function valueAt(data: JsonObject, path: readonly string[]): Json {
  let value: Json = data;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, name)) return null;
    value = value[name] ?? null;
  }
  return value;
}

const isEqual = (a: Json, b: Json): boolean => a === b || JSON.stringify(a) === JSON.stringify(b);

/** Typed, as in the Data API: number with number, text with text. */
function compare(a: Json, b: Json, test: (order: number) => boolean): boolean {
  if (typeof a === 'number' && typeof b === 'number') return test(a - b);
  if (typeof a === 'string' && typeof b === 'string') return test(a < b ? -1 : a > b ? 1 : 0);
  return false;
}
