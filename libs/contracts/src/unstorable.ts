import type { ErrorDetail } from './http/error';

export const maxJsonDepth = 64;

/**
 * The first problem in a parsed JSON value that keeps it from being stored unchanged: a NUL
 * character or half a surrogate pair in a string or key, a number beyond the range of a double
 * (JSON.parse returns Infinity, which would be stored as null), or nesting deeper than 64 levels.
 * Null if there is none.
 */
export function findUnstorable(root: unknown): ErrorDetail | null {
  const keys: (string | number)[] = [];
  const message = problemIn(root, 0, keys);
  return message === null ? null : { path: keys.reverse().join('.'), message };
}

/** Returns the problem of a value, and adds the keys that lead to it, the last one first. */
function problemIn(value: unknown, depth: number, keys: (string | number)[]): string | null {
  if (typeof value === 'string') return textProblem(value);
  if (typeof value !== 'object' || value === null) return numberProblem(value);
  if (depth >= maxJsonDepth) return `is nested deeper than ${maxJsonDepth} levels`;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const problem = problemIn(value[index], depth + 1, keys);
      if (problem === null) continue;
      keys.push(index);
      return problem;
    }
    return null;
  }
  for (const key of Object.keys(value)) {
    const keyProblem = textProblem(key);
    if (keyProblem !== null) {
      if (depth === 0) keys.push('(key)');
      return `has a key that ${keyProblem}`;
    }
    const problem = problemIn((value as Record<string, unknown>)[key], depth + 1, keys);
    if (problem === null) continue;
    keys.push(key);
    return problem;
  }
  return null;
}

function textProblem(text: string): string | null {
  if (text.includes('\u0000'))
    return 'contains the NUL character (\\u0000), which cannot be stored';
  return text.isWellFormed() ? null : 'contains half a surrogate pair, which is not valid Unicode';
}

const numberProblem = (value: unknown): string | null =>
  typeof value === 'number' && !Number.isFinite(value) ? 'is a number out of range' : null;
