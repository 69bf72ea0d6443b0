import type { JsonObject } from '@parley/contracts';

/** Deeper is nothing that a provider sends. */
const maxJsonDepth = 64;
const decoder = new TextDecoder('utf-8', { fatal: true });

/** The JSON object that a body holds; null when it holds none. What no table could keep is left out of its texts. */
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

/** A field of a form body, once; null when it has none or an empty one. */
export function readFormField(body: Buffer, name: string): string | null {
  return new URLSearchParams(body.toString('latin1')).get(name) || null;
}

/** NUL and half surrogate pairs may stand in what a customer writes, and must not stop a delivery. */
function storable(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value.replaceAll('\u0000', '').toWellFormed();
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= maxJsonDepth) return null;
  if (Array.isArray(value)) return value.map((item) => storable(item, depth + 1));
  const entries = Object.entries(value).map(([key, item]) => [storable(key, depth), storable(item, depth + 1)]);
  return Object.fromEntries(entries as [string, unknown][]);
}
