import { z } from 'zod';

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

const isPlainObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Any JSON object. The parsed value is kept by reference, because a copy would lose a key
 * such as `__proto__`.
 */
export const jsonObjectSchema = z
  .custom<JsonObject>(isPlainObject, {
    error: ({ input }) => (input === undefined ? undefined : 'must be an object'),
  })
  .meta({ type: 'object', additionalProperties: true });

export const jsonSchema: z.ZodType<Json> = z.json();
