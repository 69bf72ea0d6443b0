import type { JsonObject, SchemaObject } from '@parley/contracts';
import { type FieldSchema, readTypeSchema } from '@parley/entities';

/**
 * The schema of an entity type as a JSON Schema of `data`, with the values that a create accepts
 * and a get may return.
 */
export const dataSchema = (schema: JsonObject): SchemaObject =>
  objectSchema([...readTypeSchema(schema)]);

const objectSchema = (fields: [string, FieldSchema][]): SchemaObject => ({
  type: 'object',
  properties: Object.fromEntries(fields.map(([name, field]) => [name, fieldSchema(field)])),
  required: fields.flatMap(([name, { required }]) => (required ? [name] : [])),
});

function fieldSchema(field: FieldSchema): SchemaObject {
  const { types, required, description, references } = field;
  const names = types.filter((type) => Object.hasOwn(formats, type));
  const notes = [
    description,
    references && `Id of an entity of type ${references}.`,
    names.length > 0 && `Format: ${names.map((name) => formats[name]).join(' or ')}.`,
  ];
  return {
    description: notes.filter(Boolean).join(' '),
    // `null` fits every field that is not required.
    anyOf: [...valuesOf(field), ...(required ? [] : [{ type: 'null' }])],
  };
}

function valuesOf({
  types,
  enum: values,
  references,
  items,
  properties,
}: FieldSchema): SchemaObject[] {
  if (values !== undefined) return [{ enum: values }];
  if (references !== undefined) return [{ type: 'string' }];
  const object =
    properties === undefined ? { type: 'object' } : objectSchema(Object.entries(properties));
  const array = { type: 'array', items: items === undefined ? {} : { anyOf: valuesOf(items) } };
  if (types.length === 0)
    return [properties !== undefined ? object : items !== undefined ? array : {}];
  return types.flatMap((type): SchemaObject[] => {
    if (type === 'object') return [object];
    if (type === 'array') return [array];
    if (['date', 'datetime', 'timestamp'].includes(type)) return [{ type: ['string', 'number'] }];
    if (['number', 'integer', 'float', 'decimal', 'money'].includes(type))
      return [{ type: 'number' }];
    if (['boolean', 'null'].includes(type)) return [{ type }];
    return [
      type === 'string' ||
      Object.hasOwn(formats, type) ||
      ['text', 'id', 'enum', 'reference'].includes(type)
        ? { type: 'string' }
        : {},
    ];
  });
}

/** What a comment says about a type name that TypeScript does not have. */
const formats: Record<string, string> = {
  email: 'e-mail address',
  url: 'URL',
  phone: 'phone number',
  uuid: 'UUID',
  integer: 'integer',
  date: 'ISO 8601 date, or Unix milliseconds',
  datetime: 'ISO 8601 date and time, or Unix milliseconds',
  timestamp: 'Unix milliseconds, or ISO 8601 date and time',
};
