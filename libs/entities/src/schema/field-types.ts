import type { Json } from '@parley/contracts';

/** ISO 8601: year, month and day, optionally followed by a time of day. */
const dateText =
  /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/;

const isDate = (value: Json): boolean =>
  typeof value === 'number' ||
  (typeof value === 'string' &&
    dateText.test(value) &&
    !Number.isNaN(Date.parse(value)) &&
    isCalendarDay(value));

/**
 * Whether the day `2026-02-28` at the start of a text exists. `Date.parse` takes 30
 * February for 2 March.
 */
export const isCalendarDay = (text: string): boolean =>
  new Date(text.slice(0, 10)).getUTCDate() === Number(text.slice(8, 10));

type Fits = (value: Json) => boolean;
const each = (names: string, fits: Fits): [string, Fits][] =>
  names.split(' ').map((name) => [name, fits]);

/**
 * The type names of schemas with the values that fit them (docs/reference/data.md#entity-types).
 */
const fieldTypes = new Map<string, Fits>([
  ...each(
    'string text email url phone uuid id enum reference',
    (value) => typeof value === 'string',
  ),
  ...each('number float decimal money', (value) => typeof value === 'number'),
  ...each('integer', (value) => Number.isInteger(value)),
  ...each('boolean', (value) => typeof value === 'boolean'),
  ...each(
    'object',
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  ),
  ...each('array', (value) => Array.isArray(value)),
  ...each('date datetime timestamp', isDate),
  ...each('null', (value) => value === null),
  ...each('json any', () => true),
]);

/**
 * Whether a value fits a type name. Any value fits an unknown name, which only a schema from before
 * that check can have.
 */
export const fitsType = (name: string, value: Json): boolean =>
  fieldTypes.get(name)?.(value) ?? true;

const typeNames = [...fieldTypes.keys()].join(', ');

/** The problem with a type name; null if there is none. */
export const typeNameProblem = (name: string): string | null =>
  fieldTypes.has(name) ? null : `"${name}" is not a type name; use one of ${typeNames}`;
