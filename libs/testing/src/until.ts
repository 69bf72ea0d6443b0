import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

type Look<T> = () => T | Promise<T>;
type Nothing = undefined | null | false;

interface Limits {
  /** Default 50 s: shorter than jest's limit of 60 s, so that this error is the one reported. */
  limitMs?: number;
  /** Pause between two calls of `look`. Default 50 ms. */
  everyMs?: number;
}

/**
 * Calls `look` until it returns a value that `isThere` accepts, by default any value but undefined,
 * null and false, and returns that value. Throws after `limitMs`, with the last value; an error of
 * `look` is thrown immediately.
 */
export function until<T>(
  look: Look<T>,
  limits: Limits & { isThere: (seen: T) => boolean },
): Promise<T>;
export function until<T>(look: Look<T>, limits?: Limits): Promise<Exclude<T, Nothing>>;
export async function until<T>(
  look: Look<T>,
  {
    limitMs = 50_000,
    everyMs = 50,
    isThere = isSomething,
  }: Limits & { isThere?: (seen: T) => boolean } = {},
): Promise<T> {
  for (const endMs = performance.now() + limitMs; ; await sleep(everyMs)) {
    const seen = await look();
    if (isThere(seen)) return seen;
    if (performance.now() > endMs)
      throw new Error(`Not within ${limitMs} ms: ${look}\nLast seen: ${inspect(seen)}`);
  }
}

const isSomething = (seen: unknown): boolean =>
  seen !== undefined && seen !== null && seen !== false;
