import type { ErrorDetail, Json, JsonObject } from '@parley/contracts';
import { typeNameProblem } from './field-types';

/** The declaration of one field. Undeclared fields accept any value. */
export interface FieldSchema {
  /** Type names, one of which must fit. Empty: any value fits. */
  types: string[];
  required: boolean;
  enum?: Json[];
  items?: FieldSchema;
  properties?: Record<string, FieldSchema>;
  /** Slug of the entity type whose ids the field holds. */
  references?: string;
  /** What the field is, in the words of its author. It has no effect. */
  description?: string;
}

export type TypeSchema = Map<string, FieldSchema>;

/**
 * Reads a pushed schema, which is a flat map of field to type name or a subset of JSON Schema.
 * Ignores what it cannot read.
 */
export function readTypeSchema(schema: JsonObject): TypeSchema {
  const { fields, required } = fieldsOf(schema);
  return new Map(
    Object.entries(fields).map(([name, field]) => [name, readField(field, required.has(name))]),
  );
}

/** The problems of a pushed schema; empty if it is valid. */
export function checkTypeSchema(schema: JsonObject): ErrorDetail[] {
  const problems: ErrorDetail[] = [];
  for (const [name, field] of Object.entries(fieldsOf(schema).fields))
    checkField(problems, field, `schema.${name}`);
  return problems;
}

/** Field names of a schema that no filter, sort or template can name. */
export function checkFieldNames(schema: JsonObject): ErrorDetail[] {
  const problems: ErrorDetail[] = [];
  const visit = (fields: TypeSchema, path: string) => {
    for (const [name, field] of fields) {
      const problem = fieldNameProblem(name);
      if (problem !== null) problems.push({ path: `${path}${name}`, message: problem });
      visitNested(field, `${path}${name}`);
    }
  };
  const visitNested = ({ properties, items }: FieldSchema, path: string): void => {
    if (properties !== undefined) visit(new Map(Object.entries(properties)), `${path}.properties.`);
    if (items !== undefined) visitNested(items, `${path}.items`);
  };
  visit(readTypeSchema(schema), 'schema.');
  return problems;
}

function fieldNameProblem(name: string): string | null {
  if (name === '') return 'a field must have a name';
  if (name.startsWith('$')) return 'the name of a field cannot begin with $';
  if (name.includes('.'))
    return 'the name of a field cannot contain a dot, which separates the names of a path';
  return null;
}

/** A schema as a flat map of field to type name (docs/reference/data.md#entity-types). */
export function flatSchema(schema: JsonObject): Record<string, string> {
  const entries = [...readTypeSchema(schema)].map(([name, { types, references, enum: values }]) => {
    const [first] = types.filter((type) => type !== 'null');
    return [
      name,
      first ?? (references === undefined && values === undefined ? 'any' : 'string'),
    ] as const;
  });
  return Object.fromEntries(entries);
}

function fieldsOf(schema: JsonObject): { fields: JsonObject; required: Set<Json> } {
  const { properties, required } = schema;
  if (!isObject(properties) || (schema.type !== undefined && schema.type !== 'object'))
    return { fields: schema, required: new Set() };
  return { fields: properties, required: new Set(Array.isArray(required) ? required : []) };
}

function readField(field: Json | undefined, required: boolean): FieldSchema {
  if (typeof field === 'string') return { types: [field], required };
  if (!isObject(field)) return { types: [], required };
  const { type, items, references, description } = field;
  const types = (Array.isArray(type) ? type : [type]).filter((name) => typeof name === 'string');
  return {
    types,
    required: required || field.required === true,
    ...(Array.isArray(field.enum) ? { enum: field.enum } : {}),
    ...(items === undefined ? {} : { items: readField(items, false) }),
    ...(isObject(field.properties) && {
      properties: Object.fromEntries(readTypeSchema({ ...field, type: 'object' })),
    }),
    ...(typeof references === 'string' ? { references } : {}),
    ...(typeof description === 'string' ? { description } : {}),
  };
}

function checkField(problems: ErrorDetail[], field: Json | undefined, path: string): void {
  const add = (name: string, message: string) => problems.push({ path: `${path}${name}`, message });
  if (typeof field === 'string') return checkTypeName(problems, field, path);
  if (!isObject(field))
    return void add('', 'must be a type name or an object that describes the field');
  const { type, enum: values, items, properties, references, required } = field;
  const names = Array.isArray(type) ? type : [type ?? 'any'];
  if (names.length === 0) add('.type', 'must be a type name or a list of them');
  for (const name of names) checkTypeName(problems, name, `${path}.type`);
  if (values !== undefined && (!Array.isArray(values) || values.length === 0))
    add('.enum', 'must be a list of the allowed values');
  if (references !== undefined && typeof references !== 'string')
    add('.references', "must be an entity type's slug");
  if (required !== undefined && typeof required !== 'boolean' && !Array.isArray(required))
    add('.required', 'must be true or false');
  if (items !== undefined) checkField(problems, items, `${path}.items`);
  if (isObject(properties))
    for (const [name, inner] of Object.entries(properties))
      checkField(problems, inner, `${path}.properties.${name}`);
}

function checkTypeName(problems: ErrorDetail[], name: Json | undefined, path: string): void {
  const message =
    typeof name === 'string' ? typeNameProblem(name) : 'must be a type name or a list of them';
  if (message !== null) problems.push({ path, message });
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
