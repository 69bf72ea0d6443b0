import { isDeepStrictEqual } from 'node:util';
import type { Json } from '@parley/contracts';
import { diffArrays } from 'diff';

export interface FieldChange {
  /** Such as `model.temperature` or `tools`. */
  path: string;
  /** Absent when the field is new. */
  before?: Json;
  /** Absent when the field was removed. */
  after?: Json;
}

const isObject = (value: unknown): value is Record<string, Json> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The fields in which two definitions differ. Objects are compared field by field, lists and other values as a whole. */
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

/** With more changed lines than this a text counts as replaced: the comparison takes time quadratic in them. */
const maxEditLength = 2_000;

/** The lines of two texts in order, each marked as kept, removed or added. */
export function compareLines(before: string, after: string): LineChange[] {
  const [a, b] = [before.split('\n'), after.split('\n')];
  const changes = diffArrays(a, b, { maxEditLength }) ?? [
    { removed: true, added: false, value: a },
    { removed: false, added: true, value: b },
  ];
  return changes.flatMap(({ removed, added, value }) =>
    value.map((line): LineChange => [removed ? '-' : added ? '+' : ' ', line]),
  );
}
