import type { Json } from '@parley/contracts';

/** Year, month and day, alone or with a time of day. */
const dateText = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/;

const isString = (value: Json): boolean => typeof value === 'string';
const isNumber = (value: Json): boolean => typeof value === 'number';
const isBoolean = (value: Json): boolean => typeof value === 'boolean';
const isArray = (value: Json): boolean => Array.isArray(value);
const isDate = (value: Json): boolean =>
  typeof value === 'number' || (typeof value === 'string' && dateText.test(value) && !Number.isNaN(Date.parse(value)));
const anything = (): boolean => true;

/** Every type name that a schema may use, and what fits it (decisions.md, Data API, leaves the list open). */
const fieldTypes = new Map<string, (value: Json) => boolean>([
  ['string', isString],
  ['text', isString],
  ['email', isString],
  ['url', isString],
  ['phone', isString],
  ['uuid', isString],
  ['id', isString],
  ['enum', isString],
  ['reference', isString],
  ['number', isNumber],
  ['float', isNumber],
  ['decimal', isNumber],
  ['money', isNumber],
  ['integer', (value) => Number.isInteger(value)],
  ['boolean', isBoolean],
  ['object', (value) => typeof value === 'object' && value !== null && !Array.isArray(value)],
  ['array', isArray],
  ['date', isDate],
  ['datetime', isDate],
  ['timestamp', isDate],
  ['null', (value) => value === null],
  ['json', anything],
  ['any', anything],
]);

/** Whether a value fits a type name. One that is stored and that nobody knows fits everything: push refuses it. */
export const fitsType = (name: string, value: Json): boolean => fieldTypes.get(name)?.(value) ?? true;

/** What is wrong with a type name; null when nothing is. */
export const typeNameProblem = (name: string): string | null =>
  fieldTypes.has(name) ? null : `"${name}" is not a type; there are ${[...fieldTypes.keys()].join(', ')}`;
