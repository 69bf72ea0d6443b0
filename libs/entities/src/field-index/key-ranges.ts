import type { Json } from '@parley/contracts';
import type { Condition } from '../filter/condition';
import { encodeValue, isTruncated, successor, tag } from './encode-value';

/** The keys from `lo` up to but not including `hi`. */
export interface KeyRange {
  lo: Buffer;
  hi: Buffer;
}

/** The keys of one field that satisfy its conditions. */
export interface FieldKeys {
  /** Sorted, without overlaps. */
  ranges: KeyRange[];
  /** Whether entities without the field satisfy the conditions. */
  absent: boolean;
}

/** Below every key, and above every key. */
const lowest = Buffer.of(0);
const highest = Buffer.of(0xff);
export const strings: KeyRange = { lo: Buffer.of(tag.string), hi: Buffer.of(tag.string + 1) };
const numbers: KeyRange = { lo: Buffer.of(tag.number), hi: Buffer.of(tag.number + 1) };

/** Whether a range contains a single key, which is faster to look up. */
export const isPoint = ({ lo, hi }: KeyRange): boolean =>
  hi.length === lo.length + 1 && successor(lo).equals(hi);

export function keyOf(value: Json): KeyRange {
  const lo = encodeValue(value);
  return { lo, hi: successor(lo) };
}

/** The smallest range that contains all of these sorted ranges. */
export const boundsOf = (ranges: readonly KeyRange[]): KeyRange => ({
  lo: ranges[0]?.lo ?? lowest,
  hi: ranges.at(-1)?.hi ?? lowest,
});

/**
 * The keys with which a field can satisfy a condition. Null if that cannot be decided from the
 * entries of the field.
 */
export function keysFor({ operator, operand }: Condition): FieldKeys | null {
  switch (operator) {
    case '$eq':
      return { ranges: [keyOf(operand)], absent: operand === null };
    case '$in': {
      const items = operand as Json[];
      return { ranges: normalized(items.map(keyOf)), absent: items.includes(null) };
    }
    case '$ne':
      return complement([operand]);
    case '$nin':
      return complement(operand as Json[]);
    case '$exists':
      return operand === true
        ? { ranges: [{ lo: lowest, hi: highest }], absent: false }
        : { ranges: [], absent: true };
    case '$contains':
      return null;
    case '$gt':
    case '$gte':
    case '$lt':
    case '$lte':
      return { ranges: [compared(operator, operand)], absent: false };
  }
}

/** A truncated key may belong to strings on both sides of the operand, so it is included. */
function compared(operator: '$gt' | '$gte' | '$lt' | '$lte', operand: Json): KeyRange {
  const key = encodeValue(operand);
  const { lo, hi } = typeof operand === 'number' ? numbers : strings;
  switch (operator) {
    case '$gt':
      return { lo: isTruncated(key) ? key : successor(key), hi };
    case '$gte':
      return { lo: key, hi };
    case '$lt':
      return { lo, hi: isTruncated(key) ? successor(key) : key };
    case '$lte':
      return { lo, hi: successor(key) };
  }
}

/**
 * All keys except those of these values. Keys that several values share (truncated strings,
 * objects) are included.
 */
function complement(values: Json[]): FieldKeys {
  const keys = values
    .map(encodeValue)
    .filter((key) => !isTruncated(key) && key[0] !== tag.composite)
    .sort(Buffer.compare);
  const ranges = [lowest, ...keys.map(successor)].map((lo, index) => ({
    lo,
    hi: keys[index] ?? highest,
  }));
  return { ranges: ranges.filter(isNotEmpty), absent: !values.includes(null) };
}

export function intersection(a: FieldKeys, b: FieldKeys): FieldKeys {
  const ranges = a.ranges.flatMap((range) =>
    b.ranges.map((other) => ({ lo: greater(range.lo, other.lo), hi: lesser(range.hi, other.hi) })),
  );
  return { ranges: normalized(ranges), absent: a.absent && b.absent };
}

const isNotEmpty = ({ lo, hi }: KeyRange): boolean => Buffer.compare(lo, hi) < 0;
const lesser = (a: Buffer, b: Buffer): Buffer => (Buffer.compare(a, b) <= 0 ? a : b);
const greater = (a: Buffer, b: Buffer): Buffer => (Buffer.compare(a, b) >= 0 ? a : b);

/** Sorted, without overlaps. */
function normalized(ranges: KeyRange[]): KeyRange[] {
  const sorted = ranges.filter(isNotEmpty).sort((a, b) => Buffer.compare(a.lo, b.lo));
  const result: KeyRange[] = [];
  for (const { lo, hi } of sorted) {
    const previous = result.at(-1);
    if (previous !== undefined && Buffer.compare(lo, previous.hi) <= 0)
      previous.hi = greater(previous.hi, hi);
    else result.push({ lo, hi });
  }
  return result;
}
