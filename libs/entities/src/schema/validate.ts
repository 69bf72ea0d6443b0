import { isDeepStrictEqual } from 'node:util';
import type { ErrorDetail, Json, JsonObject } from '@parley/contracts';
import { fitsType } from './field-types';
import type { FieldSchema, TypeSchema } from './type-schema';

/** The problems of a new entity's data: declared fields must have their type, and required fields must be present. */
export const validateNew = (schema: TypeSchema, data: JsonObject): ErrorDetail[] =>
  [...schema].flatMap(([name, field]) =>
    Object.hasOwn(data, name)
      ? validateValue(field, data[name] as Json, `data.${name}`)
      : missing(field, `data.${name}`),
  );

/** The problems of the fields that a merge sets. Other fields are not checked. */
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
  if (types.length > 0 && !types.some((type) => fitsType(type, value)))
    return [{ path, message: `must be of type ${types.join(' or ')}` }];
  if (field.references !== undefined && typeof value !== 'string')
    return [{ path, message: `must be the id of an entity of type ${field.references}` }];
  if (allowed !== undefined && !allowed.some((item) => isDeepStrictEqual(item, value)))
    return [{ path, message: `must be one of ${allowed.map((item) => JSON.stringify(item)).join(', ')}` }];
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
