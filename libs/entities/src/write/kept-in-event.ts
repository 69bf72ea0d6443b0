import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '@parley/contracts';

/**
 * Up to this size of the stored `data` and the patch together, an event has all of `data`. In
 * bytes of JSON text.
 */
const maxWholeBytes = 65_536;

/**
 * The sections of `data` and `previousData` that the event of a large entity keeps, as JSON texts:
 * the keys that changed and those that triggers name (docs/reference/triggers.md#large-entities).
 * Null if it keeps all.
 */
export function keptInEvent(
  { dataText, eventKeys }: { dataText: string; eventKeys: string[] | null },
  patchText: string,
  previous: JsonObject,
  data: JsonObject,
): { data: string; previousData: string } | null {
  if (
    eventKeys === null ||
    Buffer.byteLength(dataText) + Buffer.byteLength(patchText) <= maxWholeBytes
  )
    return null;
  const named = new Set(eventKeys);
  const isKept = (key: string): boolean =>
    named.has(key) || !Object.hasOwn(previous, key) || !isDeepStrictEqual(previous[key], data[key]);
  const kept = Object.keys(data).filter(isKept);
  if (kept.length === Object.keys(data).length) return null;
  return { data: pick(data, kept), previousData: pick(previous, kept) };
}

/**
 * JSON of an object with these of its keys. `fromEntries` defines own properties, even for a key
 * such as `__proto__`.
 */
const pick = (object: JsonObject, keys: readonly string[]): string =>
  JSON.stringify(
    Object.fromEntries(
      keys.filter((key) => Object.hasOwn(object, key)).map((key) => [key, object[key]]),
    ),
  );
