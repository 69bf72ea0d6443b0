import type { SchemaObject } from '@parley/contracts';

export interface SchemaRow {
  /** With the names of its parents: `usage.inputTokens`, `agents[].slug`. */
  name: string;
  type: string;
  note: string;
  required: boolean;
}

const maxDepth = 4;
const isObject = (value: unknown): value is SchemaObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const listOf = (value: unknown): SchemaObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** Returns one row for each field of a JSON Schema, nested fields included. */
export function rowsOf(schema: SchemaObject, prefix = '', depth = 0): SchemaRow[] {
  if (depth > maxDepth) return [];
  const schemas = [schema, ...listOf(schema.allOf)];
  return schemas.flatMap(({ required: names, properties }) => {
    const required = new Set(Array.isArray(names) ? names : []);
    return Object.entries(isObject(properties) ? properties : {}).flatMap(([key, field]) => {
      if (!isObject(field)) return [];
      const name = prefix + key;
      const row = { name, type: describeType(field), note: noteOf(field), required: required.has(key) };
      return [
        row,
        ...rowsOf(field, `${name}.`, depth + 1),
        ...(isObject(field.items) ? rowsOf(field.items, `${name}[].`, depth + 1) : []),
      ];
    });
  });
}

/** Describes a type in a few words: `list of string`. `#Name` refers to the schema of that name. */
export function describeType(schema: SchemaObject): string {
  if (typeof schema.$ref === 'string') return `#${schema.$ref.split('/').at(-1)}`;
  const alternatives = [...listOf(schema.anyOf), ...listOf(schema.oneOf)];
  if (alternatives.length > 0) return alternatives.map(describeType).join(' or ');
  const combined = listOf(schema.allOf);
  if (combined.length > 0)
    return combined
      .map(describeType)
      .filter((text) => text !== 'object')
      .join(' and ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(' or ');
  if (schema.type === 'array') return `list of ${isObject(schema.items) ? describeType(schema.items) : 'anything'}`;
  return typeof schema.type === 'string' ? schema.type : 'anything';
}

function noteOf(schema: SchemaObject): string {
  const limits = [
    ['default', 'default'],
    ['minimum', 'at least'],
    ['maximum', 'at most'],
    ['minLength', 'length at least'],
    ['maxLength', 'length at most'],
    ['maxItems', 'items at most'],
  ] as const;
  return [
    typeof schema.description === 'string' ? schema.description : '',
    ...limits.flatMap(([key, words]) =>
      schema[key] === undefined || Math.abs(Number(schema[key])) >= Number.MAX_SAFE_INTEGER
        ? []
        : [`${words} ${JSON.stringify(schema[key])}`],
    ),
  ]
    .filter(Boolean)
    .join('; ')
    .replace('.; ', '; '); // a description is a sentence
}
