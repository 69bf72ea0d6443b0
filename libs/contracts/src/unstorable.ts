import type { ErrorDetail } from './http/error';

export const maxJsonDepth = 64;

/**
 * The first problem in a parsed JSON value that keeps it from being stored unchanged: a NUL character or half a surrogate
 * pair in a string or key, a number beyond the range of a double (JSON.parse returns Infinity, which would be stored as
 * null), or nesting deeper than 64 levels. Null if there is none. Not recursive, so that no nesting overflows the stack.
 */
export function findUnstorable(root: unknown): ErrorDetail | null {
  const stack: { value: unknown; path: string; depth: number }[] = [{ value: root, path: '', depth: 0 }];
  for (let item = stack.pop(); item !== undefined; item = stack.pop()) {
    const { value, path, depth } = item;
    const problem = typeof value === 'string' ? textProblem(value) : numberProblem(value);
    if (problem !== null) return { path, message: problem };
    if (typeof value !== 'object' || value === null) continue;
    if (depth >= maxJsonDepth) return { path, message: `is nested deeper than ${maxJsonDepth} levels` };
    for (const key of Object.keys(value)) {
      const childPath = path === '' ? key : `${path}.${key}`;
      const keyProblem = Array.isArray(value) ? null : textProblem(key);
      if (keyProblem !== null) return { path: path === '' ? '(key)' : path, message: `has a key that ${keyProblem}` };
      stack.push({ value: (value as Record<string, unknown>)[key], path: childPath, depth: depth + 1 });
    }
  }
  return null;
}

function textProblem(text: string): string | null {
  if (text.includes('\u0000')) return 'contains the NUL character (\\u0000), which cannot be stored';
  return text.isWellFormed() ? null : 'contains half a surrogate pair, which is not valid Unicode';
}

const numberProblem = (value: unknown): string | null =>
  typeof value === 'number' && !Number.isFinite(value) ? 'is a number out of range' : null;
