import type { JsonObject } from '@parley/client';
import { ownValue } from '@parley/rows';

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const samples: Record<string, JsonObject[string]> = {
  string: '',
  number: 0,
  integer: 0,
  boolean: false,
  array: [],
  object: {},
};

/**
 * Arguments to begin with: the required ones, with their default, their first value, or nothing.
 */
export function sampleArguments(schema: JsonObject): JsonObject {
  const fields = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => {
      if (!required.includes(name) || !isObject(field)) return [];
      const first = Array.isArray(field.enum) ? field.enum[0] : undefined;
      return [[name, field.default ?? first ?? ownValue(samples, String(field.type)) ?? null]];
    }),
  );
}
