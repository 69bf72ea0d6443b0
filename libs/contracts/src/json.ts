import { z } from 'zod';

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

const isPlainObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A JSON object as it was parsed: kept by reference, so that a key such as `__proto__` is not lost in a copy. */
export const jsonObjectSchema = z
  .custom<JsonObject>(isPlainObject, 'Expected an object')
  .meta({ type: 'object', additionalProperties: true });

export const jsonSchema: z.ZodType<Json> = z.json();
