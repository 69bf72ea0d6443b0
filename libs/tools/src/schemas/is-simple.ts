import type { Json, JsonObject } from '@parley/contracts';

/** Limits of a schema that the serving thread compiles: 50 fields compile in about 20 ms. */
const maxChars = 8_192;
const maxFields = 50;
const maxEnum = 100;
/** Comparisons of a check on the serving thread, about 10 ms. */
const maxComparisons = 1_000_000;

const types = new Set<Json>(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);
const isCount = (value: Json): boolean => Number.isInteger(value) && (value as number) >= 0;
const isNumber = (value: Json): boolean => typeof value === 'number';
const isText = (value: Json): boolean => typeof value === 'string';
const isScalar = (value: Json): boolean => typeof value !== 'object' || value === null;
const isAny = (): boolean => true;
const isListOf = (isItem: (item: Json) => boolean) => (value: Json) =>
  Array.isArray(value) && value.length <= maxEnum && value.length > 0 && value.every(isItem);

/**
 * The keywords of simple schemas. Each takes at most as many comparisons as it has
 * characters for a value.
 */
const keywords: Record<string, (value: Json) => boolean> = {
  type: (value) => types.has(value) || isListOf((item) => types.has(item))(value),
  enum: isListOf(isScalar),
  required: (value) => (Array.isArray(value) && value.length === 0) || isListOf(isText)(value),
  const: isScalar,
  minimum: isNumber,
  maximum: isNumber,
  exclusiveMinimum: isNumber,
  exclusiveMaximum: isNumber,
  minLength: isCount,
  maxLength: isCount,
  minItems: isCount,
  maxItems: isCount,
  description: isText,
  title: isText,
  format: isText,
  $schema: isText,
  default: isAny,
};

/**
 * Whether a schema compiles, and is so small that the serving thread compiles and checks it: fields
 * of scalars, lists and objects, without patterns, references or alternatives. Others take a
 * thread, which costs about 0.1 ms.
 */
export const isSimple = (schema: JsonObject, chars: number): boolean =>
  chars <= maxChars && fieldsOf(schema) <= maxFields;

/** The number of schemas in this one; infinite if one of them is not simple. */
function fieldsOf(schema: Json): number {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return Infinity;
  let count = 1;
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'items' || (keyword === 'additionalProperties' && typeof value !== 'boolean'))
      count += fieldsOf(value);
    else if (keyword === 'properties') {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return Infinity;
      for (const field of Object.values(value)) count += fieldsOf(field);
    } else if (
      keyword !== 'additionalProperties' &&
      !(Object.hasOwn(keywords, keyword) && keywords[keyword]!(value))
    )
      return Infinity;
  }
  return count;
}

/**
 * Whether arguments are so small that a simple schema of `chars` is checked with at most
 * `maxComparisons`.
 */
export function areFew(args: JsonObject, chars: number): boolean {
  let left = maxComparisons / Math.max(chars, 100);
  const stack: Json[] = [args];
  for (let value = stack.pop(); value !== undefined; value = stack.pop()) {
    left -= typeof value === 'string' ? 1 + value.length / 100 : 1;
    if (left < 0) return false;
    if (typeof value !== 'object' || value === null) continue;
    const items = Object.values(value);
    if (items.length > left) return false;
    stack.push(...items);
  }
  return true;
}
