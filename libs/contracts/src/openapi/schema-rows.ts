import type { SchemaObject } from './components';

export interface SchemaRow {
  /** With the names of its parents: `usage.inputTokens`, `agents[].slug`. */
  name: string;
  type: string;
  description: string;
  /** `1–200 characters`; empty when there are none. */
  limits: string;
  /**
   * `in one form`: there are several alternatives of the object that has the field, and
   * not all require it.
   */
  required: boolean | 'in one form';
}

const maxDepth = 4;
const isObject = (value: unknown): value is SchemaObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const listOf = (value: unknown): SchemaObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

/**
 * Returns one row for each field of a JSON Schema, nested fields and those of
 * alternatives included.
 */
export function rowsOf(schema: SchemaObject, prefix = '', depth = 0): SchemaRow[] {
  if (depth > maxDepth) return [];
  const rows = [schema, ...listOf(schema.allOf)].flatMap((one) => ownRows(one, prefix, depth));
  return [...rows, ...mergeForms(formsOf(schema).map((form) => rowsOf(form, prefix, depth)))];
}

function ownRows(
  { required: names, properties, items }: SchemaObject,
  prefix: string,
  depth: number,
): SchemaRow[] {
  if (isObject(items) && prefix !== '') return rowsOf(items, `${prefix.slice(0, -1)}[].`, depth);
  const required = new Set(Array.isArray(names) ? names : []);
  return Object.entries(isObject(properties) ? properties : {}).flatMap(([key, field]) => {
    if (!isObject(field)) return [];
    const name = prefix + key;
    const description = typeof field.description === 'string' ? field.description : '';
    const row = {
      name,
      type: describeType(field),
      description,
      limits: limitsOf(field),
      required: required.has(key),
    };
    return [row, ...rowsOf(field, `${name}.`, depth + 1)];
  });
}

const formsOf = ({ anyOf, oneOf }: SchemaObject): SchemaObject[] => [
  ...listOf(anyOf),
  ...listOf(oneOf),
];

/**
 * The rows of alternatives, of which those without fields do not count. A field of several
 * alternatives has one row.
 */
function mergeForms(forms: SchemaRow[][]): SchemaRow[] {
  const withFields = forms.filter((rows) => rows.length > 0);
  const byName = Map.groupBy(withFields.flat(), ({ name }) => name);
  return [...byName.values()].map((same) => {
    const isEverywhere = same.length === withFields.length;
    const join = (key: 'type' | 'description' | 'limits', separator: string) =>
      [...new Set(same.map((row) => row[key]))].filter(Boolean).join(separator);
    return {
      name: same[0]!.name,
      type: join('type', ' or '),
      description: join('description', ' '),
      limits: join('limits', ', or '),
      required:
        isEverywhere && same.every(({ required }) => required === true)
          ? true
          : same.some(({ required }) => required !== false) && 'in one form',
    };
  });
}

/** Describes a type in a few words: `list of string`. `#Name` refers to the schema of that name. */
export function describeType(schema: SchemaObject): string {
  if (typeof schema.$ref === 'string') return `#${schema.$ref.split('/').at(-1)}`;
  const alternatives = formsOf(schema);
  if (alternatives.length > 0) return [...new Set(alternatives.map(describeType))].join(' or ');
  const combined = listOf(schema.allOf);
  if (combined.length > 0)
    return combined
      .map(describeType)
      .filter((text) => text !== 'object')
      .join(' and ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum))
    return schema.enum.map((value) => JSON.stringify(value)).join(' or ');
  if (schema.type === 'array')
    return `list of ${isObject(schema.items) ? describeType(schema.items) : 'anything'}`;
  if (Array.isArray(schema.type))
    return schema.type.map((type) => describeType({ ...schema, type })).join(' or ');
  return typeof schema.type === 'string' ? schema.type : 'anything';
}

/** The description of a row with its limits, as one text. */
export const noteOf = ({ description, limits }: SchemaRow): string =>
  [description.replace(/\.$/, limits === '' ? '.' : ''), limits].filter(Boolean).join('; ');

function limitsOf(schema: SchemaObject): string {
  const { default: fallback, minimum, maximum, minLength, maxLength, minItems, maxItems } = schema;
  return [
    fallback === undefined ? '' : `default ${JSON.stringify(fallback)}`,
    range(minimum, maximum, ''),
    range(minLength, maxLength, ' characters'),
    range(minItems, maxItems, ' entries'),
  ]
    .filter(Boolean)
    .join(', ');
}

function range(min: unknown, max: unknown, unit: string): string {
  const [from, to] = [min, max].map((value) =>
    typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER
      ? value.toLocaleString('en-US')
      : null,
  );
  if (from != null && to != null) return from === to ? `${from}${unit}` : `${from}–${to}${unit}`;
  if (to != null) return `at most ${to}${unit}`;
  return from == null || (from === '0' && unit !== '')
    ? ''
    : `at least ${from}${from === '1' ? unit.replace(/ies$/, 'y').replace(/s$/, '') : unit}`;
}
