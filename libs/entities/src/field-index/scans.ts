import type { Json, JsonObject } from '@parley/contracts';
import { type Clause, type Condition, type Field, fieldName } from '../filter/condition';
import { maxPathLength } from '../filter/parse-filters';
import { encodeValue, isTruncated, successor, tag } from './encode-value';
import { elementsHash, fieldHash, statusField, updatedAtField } from './field-hash';

/** Index entries with `lo <= value < hi`; of a string's entries only those that contain `substring`, when it is given. */
export interface KeyRange {
  field: number;
  lo: Buffer;
  hi: Buffer;
  substring?: Buffer;
}

/** Whether a key range holds just one key, which is looked up faster. */
export const isPoint = ({ lo, hi }: KeyRange): boolean => hi.length === lo.length + 1 && successor(lo).equals(hi);

/** Index entries that hold every entity for which a clause is true (and others: the entity itself decides). */
export interface Scan {
  keyRanges: KeyRange[];
  /** Entities that lack one of these fields belong to it too. */
  absent: number[];
}

type Range = [lo: Buffer, hi: Buffer];
interface FieldScan {
  ranges: Range[];
  absent: boolean;
}

const first = Buffer.of(0);
const last = Buffer.of(0xff);
const everything: Range = [first, last];
const strings: Range = [Buffer.of(tag.string), Buffer.of(tag.string + 1)];
const numbers: Range = [Buffer.of(tag.number), Buffer.of(tag.number + 1)];

/** At most this many scalars inside an object or array that a filter asks for are looked up. */
const maxImplied = 4;

/**
 * The scans of clauses that must all hold: conditions on one field become one scan, an alternative (`or`) a union.
 * Clauses that no entry can answer (`createdAt`, `id`) have none.
 */
export function scansOf(clauses: readonly Clause[]): Scan[] {
  const byField = new Map<number, FieldScan>();
  const scans: Scan[] = [];
  for (const clause of clauses) {
    if (clause.length !== 1) {
      const union = unionOf(clause);
      if (union !== null) scans.push(union);
      continue;
    }
    const condition = clause[0]!;
    const field = entryField(condition.field);
    if (field === null) continue;
    const scan = fieldScan(condition);
    if (scan !== null) {
      const other = byField.get(field);
      byField.set(field, other === undefined ? scan : intersection(other, scan));
    }
    scans.push(...impliedScans(condition));
  }
  for (const [field, scan] of byField) scans.unshift(toScan(field, scan));
  return scans;
}

/** Where the entries of a field begin and end whose entities these clauses let through. */
interface Bounds {
  lo: Buffer;
  /** The first key beyond. */
  hi: Buffer;
  /** Whether the clauses on the field let through all that lies between. */
  isWhole: boolean;
}

/** Null when the clauses say nothing of the field, or let through entities that lack it. */
export function boundsOf(clauses: readonly Clause[], field: Field): Bounds | null {
  const scans = conditionsOn(clauses, field).flatMap((condition) => fieldScan(condition) ?? []);
  const [scan, ...others] = scans;
  if (scan === undefined) return null;
  const { ranges, absent } = others.reduce(intersection, scan);
  if (absent && field.kind === 'data') return null;
  return { lo: ranges[0]?.[0] ?? first, hi: ranges.at(-1)?.[1] ?? first, isWhole: ranges.length <= 1 };
}

/** The clauses that say more than `boundsOf` this field. */
export const clausesBeyond = (clauses: readonly Clause[], field: Field): Clause[] => {
  const bounding = new Set(conditionsOn(clauses, field).filter((condition) => impliedScans(condition).length === 0));
  return clauses.filter((clause) => clause.length !== 1 || !bounding.has(clause[0]!));
};

/** Conditions on exactly this field that must hold. */
const conditionsOn = (clauses: readonly Clause[], field: Field): Condition[] =>
  clauses.filter((clause) => clause.length === 1 && fieldName(clause[0]!.field) === fieldName(field)).flat();

function entryField(field: Field): number | null {
  switch (field.kind) {
    case 'data':
      return fieldHash(field.path);
    case 'status':
      return statusField;
    case 'updatedAt':
      return updatedAtField;
    default:
      return null;
  }
}

const toScan = (field: number, { ranges, absent }: FieldScan): Scan => ({
  keyRanges: ranges.map(([lo, hi]) => ({ field, lo, hi })),
  // Columns are never absent.
  absent: absent && field !== statusField && field !== updatedAtField ? [field] : [],
});

function unionOf(clause: Clause): Scan | null {
  const scans = clause.map((condition) => scansOf([[condition]])[0]);
  if (scans.some((scan) => scan === undefined)) return null;
  return {
    keyRanges: scans.flatMap((scan) => scan!.keyRanges),
    absent: scans.flatMap((scan) => scan!.absent),
  };
}

/** Which entries of the condition's own field can satisfy it; null when `impliedScans` says it better. */
function fieldScan({ operator, operand }: Condition): FieldScan | null {
  switch (operator) {
    case '$eq':
      return { ranges: equal(operand), absent: operand === null };
    case '$in': {
      const items = operand as Json[];
      return { ranges: normalized(items.flatMap(equal)), absent: items.includes(null) };
    }
    case '$ne':
      return complement([operand]);
    case '$nin':
      return complement(operand as Json[]);
    case '$exists':
      return operand === true ? { ranges: [everything], absent: false } : { ranges: [], absent: true };
    case '$contains':
      return null;
    case '$gt':
    case '$gte':
    case '$lt':
    case '$lte':
      return { ranges: [compared(operator, operand)], absent: false };
  }
}

function equal(value: Json): Range[] {
  const key = encodeValue(value);
  return [[key, successor(key)]];
}

function compared(operator: '$gt' | '$gte' | '$lt' | '$lte', operand: Json): Range {
  const key = encodeValue(operand);
  const [lo, hi] = typeof operand === 'number' ? numbers : strings;
  switch (operator) {
    case '$gt':
      return [isTruncated(key) ? key : successor(key), hi];
    case '$gte':
      return [key, hi];
    case '$lt':
      return [lo, isTruncated(key) ? successor(key) : key];
    case '$lte':
      return [lo, successor(key)];
  }
}

/** All entries but those of these values; what one key cannot tell apart (cut strings, objects) stays in. */
function complement(values: Json[]): FieldScan {
  const keys = values
    .map(encodeValue)
    .filter((key) => !isTruncated(key) && key[0] !== tag.composite)
    .sort(Buffer.compare);
  const ranges: Range[] = [];
  let lo: Buffer = first;
  for (const key of keys) {
    ranges.push([lo, key]);
    lo = successor(key);
  }
  ranges.push([lo, last]);
  return { ranges: ranges.filter(isNotEmpty), absent: !values.includes(null) };
}

const isNotEmpty = ([lo, hi]: Range): boolean => Buffer.compare(lo, hi) < 0;
const lesser = (a: Buffer, b: Buffer): Buffer => (Buffer.compare(a, b) <= 0 ? a : b);
const greater = (a: Buffer, b: Buffer): Buffer => (Buffer.compare(a, b) >= 0 ? a : b);

/** Sorted, without overlaps. */
function normalized(ranges: Range[]): Range[] {
  const sorted = ranges.filter(isNotEmpty).sort((a, b) => Buffer.compare(a[0], b[0]));
  const result: Range[] = [];
  for (const [lo, hi] of sorted) {
    const previous = result.at(-1);
    if (previous !== undefined && Buffer.compare(lo, previous[1]) <= 0) previous[1] = greater(previous[1], hi);
    else result.push([lo, hi]);
  }
  return result;
}

function intersection(a: FieldScan, b: FieldScan): FieldScan {
  const ranges = a.ranges.flatMap(([lo, hi]) =>
    b.ranges.map(([otherLo, otherHi]): Range => [greater(lo, otherLo), lesser(hi, otherHi)]),
  );
  return { ranges: normalized(ranges), absent: a.absent && b.absent };
}

/**
 * Further entries that an entity must have: the elements or parts that `$contains` names, and scalars inside an object or
 * array that must be equal as a whole.
 */
function impliedScans({ field, operator, operand }: Condition): Scan[] {
  if (field.kind !== 'data') return [];
  if (operator === '$contains') return [containing(field.path, operand)];
  if (operator !== '$eq' || typeof operand !== 'object' || operand === null) return [];
  const scans: Scan[] = [];
  const queue: { path: string[]; value: Json[] | JsonObject }[] = [{ path: field.path, value: operand }];
  for (let next = 0; next < queue.length && scans.length < maxImplied; next += 1) {
    const { path, value } = queue[next]!;
    if (Array.isArray(value)) {
      for (const item of value) if (typeof item !== 'object') scans.push(entriesOf(elementsHash(path), item));
    } else {
      if (path.length >= maxPathLength) continue;
      for (const [key, item] of Object.entries(value)) {
        if (typeof item === 'object' && item !== null) queue.push({ path: [...path, key], value: item });
        else scans.push(entriesOf(fieldHash([...path, key]), item));
      }
    }
  }
  return scans.slice(0, maxImplied);
}

const entriesOf = (field: number, value: Json): Scan => ({
  keyRanges: equal(value).map(([lo, hi]) => ({ field, lo, hi })),
  absent: [],
});

function containing(path: string[], operand: Json): Scan {
  const elements = entriesOf(elementsHash(path), operand);
  if (typeof operand !== 'string') return elements;
  const [lo, hi] = strings;
  const substring = Buffer.from(operand, 'utf8');
  return { keyRanges: [...elements.keyRanges, { field: fieldHash(path), lo, hi, substring }], absent: [] };
}
