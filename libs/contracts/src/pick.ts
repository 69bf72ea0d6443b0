import type { Json, JsonObject } from './json';

/** Reads on in what providers send, where every member may be missing or of another type than documented. */
export const objectAt = (value: Json | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};

/** A text that is not empty; numbers count, as ids come as both. */
export function textAt(value: Json | undefined): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export const listAt = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);

/** A whole number such as an amount in cents, also when it comes as text. */
export function integerAt(value: Json | undefined): number | undefined {
  const number = typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : undefined;
}
