import type { JsonObject } from '@parley/client';

/** The JSON object that a person has written; the reason when it is none. */
export function parseObject(text: string): { value: JsonObject } | { problem: string | null } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? { value: value as JsonObject }
      : { problem: null };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}
