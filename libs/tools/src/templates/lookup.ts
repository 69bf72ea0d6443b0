import type { Json } from '@parley/contracts';

/**
 * The value at a dotted path; undefined when there is none. Own properties only, so `constructor` or `__proto__` find
 * nothing that was not put there; list items by their number.
 */
export function lookup(root: unknown, path: string): Json | undefined {
  let value = root;
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (Array.isArray(value) && !/^\d+$/.test(key)) return undefined;
    if (!Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value as Json | undefined;
}

/** How a value reads in a text: strings as they are, null as nothing, objects and lists as JSON. */
export function toText(value: Json): string {
  if (typeof value === 'string') return value;
  return value === null ? '' : JSON.stringify(value);
}
