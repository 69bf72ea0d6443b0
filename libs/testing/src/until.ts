import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

type Look<T> = () => T | Promise<T>;
type Nothing = undefined | null | false;

interface Limits {
  /** 50 s when absent, so that this error comes before jest's own, after 60 s. */
  limitMs?: number;
  /** The pause between two looks; 50 ms when absent. */
  everyMs?: number;
}

/**
 * Looks again and again until there is something, or what `isThere` accepts, and returns it. Throws when the time is over,
 * with what was seen last; an error of `look` is thrown at once.
 */
export function until<T>(look: Look<T>, limits: Limits & { isThere: (seen: T) => boolean }): Promise<T>;
export function until<T>(look: Look<T>, limits?: Limits): Promise<Exclude<T, Nothing>>;
export async function until<T>(
  look: Look<T>,
  { limitMs = 50_000, everyMs = 50, isThere = isSomething }: Limits & { isThere?: (seen: T) => boolean } = {},
): Promise<T> {
  for (const endMs = performance.now() + limitMs; ; await sleep(everyMs)) {
    const seen = await look();
    if (isThere(seen)) return seen;
    if (performance.now() > endMs) throw new Error(`Not within ${limitMs} ms: ${look}\nLast seen: ${inspect(seen)}`);
  }
}

const isSomething = (seen: unknown): boolean => seen !== undefined && seen !== null && seen !== false;
