import type { Json, JsonObject } from './json';

// Readers for the bodies of providers, in which any member may be missing or have another type
// than documented.

/** The object, or an empty one if the value is not an object. */
export const objectAt = (value: Json | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};

/** A non-empty text. A number is converted, because providers send ids as texts or numbers. */
export function textAt(value: Json | undefined): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The array, or an empty one if the value is not an array. */
export const listAt = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);

/** An integer such as an amount in cents, given as a number or as text. */
export function integerAt(value: Json | undefined): number | undefined {
  const number = typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : undefined;
}
