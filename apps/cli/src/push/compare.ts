import { isDeepStrictEqual } from 'node:util';
import type { Json } from '@parley/contracts';

export interface FieldChange {
  /** `model.temperature`, `tools`. */
  path: string;
  /** Absent when the field is new. */
  before?: Json;
  /** Absent when the field is gone. */
  after?: Json;
}

const isObject = (value: unknown): value is Record<string, Json> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The fields in which two definitions differ: objects field by field, lists and values as a whole. */
export function compareFields(before: object, after: object, prefix = ''): FieldChange[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name): FieldChange[] => {
    const [old, now]: [Json | undefined, Json | undefined] = [Reflect.get(before, name), Reflect.get(after, name)];
    if (isDeepStrictEqual(old, now)) return [];
    const path = prefix + name;
    if (isObject(old) && isObject(now)) return compareFields(old, now, `${path}.`);
    return [{ path, ...(old !== undefined && { before: old }), ...(now !== undefined && { after: now }) }];
  });
}

export type LineChange = readonly [sign: ' ' | '-' | '+', line: string];

/** Beyond this many comparisons a text counts as replaced. */
const comparisonLimit = 4_000_000;

/** Which lines of a text went and came, in order (longest common subsequence). */
export function compareLines(before: string, after: string): LineChange[] {
  const [a, b] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const [middleA, middleB] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  const same = (lines: string[]): LineChange[] => lines.map((line) => [' ', line]);
  return [...same(a.slice(0, start)), ...compareMiddle(middleA, middleB), ...same(a.slice(a.length - end))];
}

function compareMiddle(a: string[], b: string[]): LineChange[] {
  const gone = (lines: string[]): LineChange[] => lines.map((line) => ['-', line]);
  const come = (lines: string[]): LineChange[] => lines.map((line) => ['+', line]);
  if (a.length * b.length > comparisonLimit) return [...gone(a), ...come(b)];
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] =
        a[i] === b[j]
          ? lengths[(i + 1) * width + j + 1]! + 1
          : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!);
    }
  }
  const changes: LineChange[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      changes.push([' ', a[i]!]);
      i += 1;
      j += 1;
    } else if (lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!) changes.push(['-', a[i++]!]);
    else changes.push(['+', b[j++]!]);
  }
  return [...changes, ...gone(a.slice(i)), ...come(b.slice(j))];
}
