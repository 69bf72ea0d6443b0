import { LRUCache } from 'lru-cache';

const secretName =
  /(authorization|cookie|token|apikey|secret|secretkey|secretskey|password|credentials?)$/i;
const secretValue =
  /\bsk_(?:dev|prod)_[A-Za-z0-9_-]{20,}|\bwhsec_[A-Za-z0-9+/=_-]{8,}|\bBearer +\S{8,}/g;
const censored = '[redacted]';
const maxDepth = 5;

/** Results by name: the same names occur in every line, and the pattern is slow. */
const secretNames = new LRUCache<string, boolean>({
  max: 1_000,
  memoMethod: (name) => secretName.test(name.replace(/[-_.]/g, '')),
});

/**
 * Returns the value without secrets: values with the name of a secret, and API keys and bearer
 * tokens inside any text. Copies only objects in which it replaces something, because most log
 * lines contain no secret.
 */
export function redact<T>(value: T, depth = 0): T {
  if (typeof value === 'string') return redactText(value) as T;
  if (typeof value !== 'object' || value === null || value instanceof Error || depth > maxDepth)
    return value;
  let copy: Record<string, unknown> | undefined;
  for (const name of Object.keys(value)) {
    const held = (value as Record<string, unknown>)[name];
    const shown =
      held !== undefined && held !== null && secretNames.memo(name)
        ? censored
        : redact(held, depth + 1);
    if (shown !== held) {
      copy ??= (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
      copy[name] = shown;
    }
  }
  return (copy ?? value) as T;
}

/** Searches for the fixed prefixes first, because that is faster than the pattern. */
const redactText = (text: string): string =>
  text.includes('sk_') || text.includes('whsec_') || text.includes('earer ')
    ? text.replace(secretValue, censored)
    : text;
