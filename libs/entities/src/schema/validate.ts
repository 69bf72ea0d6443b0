import { isDeepStrictEqual } from 'node:util';
import type { ErrorDetail, Json, JsonObject } from '@parley/contracts';
import type { FieldSchema, TypeSchema } from './type-schema';

/** Year, month and day, alone or with a time of day. */
const dateText = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/;

const isDate = (value: Json): boolean =>
  typeof value === 'number' || (typeof value === 'string' && dateText.test(value) && !Number.isNaN(Date.parse(value)));

const isString = (value: Json): boolean => typeof value === 'string';

/** Type names that are checked, and what fits them; any other name is the author's own and fits everything. */
const checks = new Map<string, (value: Json) => boolean>([
  ['string', isString],
  ['text', isString],
  ['email', isString],
  ['url', isString],
  ['phone', isString],
  ['enum', isString],
  ['reference', isString],
  ['number', (value) => typeof value === 'number'],
  ['integer', (value) => Number.isInteger(value)],
  ['boolean', (value) => typeof value === 'boolean'],
  ['object', (value) => typeof value === 'object' && value !== null && !Array.isArray(value)],
  ['array', (value) => Array.isArray(value)],
  ['date', isDate],
  ['datetime', isDate],
  ['null', (value) => value === null],
]);

/** Checks a new entity's data: declared fields must fit, required ones must be there. Empty when all is well. */
export const validateNew = (schema: TypeSchema, data: JsonObject): ErrorDetail[] =>
  [...schema].flatMap(([name, field]) =>
    Object.hasOwn(data, name)
      ? validateValue(field, data[name] as Json, `data.${name}`)
      : missing(field, `data.${name}`),
  );

/** Checks the fields that a merge changes; what is not named stays as it is. */
export const validateMerge = (schema: TypeSchema, patch: JsonObject): ErrorDetail[] =>
  Object.keys(patch).flatMap((name) => {
    const field = schema.get(name);
    return field === undefined ? [] : validateValue(field, patch[name] as Json, `data.${name}`);
  });

const missing = (field: FieldSchema, path: string): ErrorDetail[] =>
  field.required ? [{ path, message: 'is required' }] : [];

function validateValue(field: FieldSchema, value: Json, path: string): ErrorDetail[] {
  if (value === null && !field.types.includes('null')) return missing(field, path);
  const { types, enum: allowed } = field;
  if (types.length > 0 && !types.some((type) => checks.get(type)?.(value) ?? true))
    return [{ path, message: `must be of type ${types.join(' or ')}` }];
  if (field.references !== undefined && !isString(value))
    return [{ path, message: `must be the id of an entity of type ${field.references}` }];
  if (allowed !== undefined && !allowed.some((one) => isDeepStrictEqual(one, value)))
    return [{ path, message: `must be one of ${allowed.map((one) => JSON.stringify(one)).join(', ')}` }];
  if (Array.isArray(value))
    return value.flatMap((item, index) =>
      field.items === undefined ? [] : validateValue(field.items, item, `${path}.${index}`),
    );
  if (typeof value !== 'object' || value === null || field.properties === undefined) return [];
  return Object.entries(field.properties).flatMap(([name, inner]) =>
    Object.hasOwn(value, name)
      ? validateValue(inner, value[name] as Json, `${path}.${name}`)
      : missing(inner, `${path}.${name}`),
  );
}
