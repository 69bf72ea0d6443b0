import { isDeepStrictEqual } from 'node:util';
import type { Json } from '@parley/contracts';
import { diffArrays } from 'diff';

/**
 * With more changed lines or elements than this, all count as replaced: the comparison takes time
 * quadratic in them.
 */
const maxEditLength = 2_000;

export interface FieldChange {
  /** Such as `model.temperature`, or `policies.1.effect` for the second element of a list. */
  path: string;
  /** Absent when the field is new. */
  before?: Json;
  /** Absent when the field was removed. */
  after?: Json;
}

const isObject = (value: unknown): value is Record<string, Json> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The fields in which two definitions differ. Objects are compared field by field, lists
 * element by element.
 */
export function compareFields(before: object, after: object, prefix = ''): FieldChange[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) =>
    compareValues(
      prefix + name,
      Reflect.get(before, name) as Json | undefined,
      Reflect.get(after, name) as Json | undefined,
    ),
  );
}

function compareValues(
  path: string,
  before: Json | undefined,
  after: Json | undefined,
): FieldChange[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (isObject(before) && isObject(after)) return compareFields(before, after, `${path}.`);
  if (Array.isArray(before) && Array.isArray(after)) return compareLists(path, before, after);
  return [{ path, ...(before !== undefined && { before }), ...(after !== undefined && { after }) }];
}

/**
 * Elements that were removed and added at the same place are compared with each other. The index is
 * that of the new list; of an element that was only removed, that of the old list.
 */
function compareLists(path: string, before: Json[], after: Json[]): FieldChange[] {
  const hunks = diffArrays(before, after, { comparator: isDeepStrictEqual, maxEditLength }) ?? [
    { removed: true, added: false, value: before },
    { removed: false, added: true, value: after },
  ];
  const changes: FieldChange[] = [];
  let [old, now]: [Json[], Json[]] = [[], []];
  let [oldIndex, index] = [0, 0];
  const flush = () => {
    for (let at = 0; at < Math.max(old.length, now.length); at += 1)
      changes.push(
        ...compareValues(`${path}.${(at < now.length ? index : oldIndex) + at}`, old[at], now[at]),
      );
    [oldIndex, index] = [oldIndex + old.length, index + now.length];
    [old, now] = [[], []];
  };
  for (const { removed, added, value } of hunks) {
    if (removed) old = value;
    else if (added) now = value;
    else {
      flush();
      [oldIndex, index] = [oldIndex + value.length, index + value.length];
    }
  }
  flush();
  return changes;
}

export type LineChange = readonly [sign: ' ' | '-' | '+', line: string];

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
