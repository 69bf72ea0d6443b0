import type { Json } from '@parley/contracts';

/**
 * Returns the own property at a dotted path, or undefined. `constructor` and `__proto__` find
 * nothing inherited.
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

/**
 * Converts a value to text: strings unchanged, null as an empty text, objects and lists as JSON.
 */
export function toText(value: Json): string {
  if (typeof value === 'string') return value;
  return value === null ? '' : JSON.stringify(value);
}
