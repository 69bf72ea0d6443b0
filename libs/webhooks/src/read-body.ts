import type { JsonObject } from '@parley/contracts';

/** Values nested deeper are replaced by null. No provider sends such bodies. */
const maxJsonDepth = 64;
const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a body as a JSON object; null when it is not one. Characters that PostgreSQL cannot
 * store are replaced.
 */
export function readJsonObject(body: Buffer): JsonObject | null {
  let value: unknown;
  try {
    value = JSON.parse(decoder.decode(body));
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  return storable(value, 0) as JsonObject;
}

/** The first value of a field of a form body; null when it is missing or empty. */
export function readFormField(body: Buffer, name: string): string | null {
  return new URLSearchParams(body.toString('latin1')).get(name) || null;
}

/**
 * Removes NUL and replaces lone surrogates: a message may contain them, and must not make
 * the delivery fail.
 */
function storable(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value.replaceAll('\u0000', '').toWellFormed();
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= maxJsonDepth) return null;
  if (Array.isArray(value)) return value.map((item) => storable(item, depth + 1));
  const entries = Object.entries(value).map(([key, item]) => [
    storable(key, depth),
    storable(item, depth + 1),
  ]);
  return Object.fromEntries(entries as [string, unknown][]);
}
