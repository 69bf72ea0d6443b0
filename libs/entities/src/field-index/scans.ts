import type { Json, JsonObject } from '@parley/contracts';
import type { Clause, Condition, Field } from '../filter/condition';
import { maxPathLength } from '../filter/parse-filters';
import { elementsHash, fieldHash, statusField, updatedAtField } from './field-hash';
import { type FieldKeys, type KeyRange, intersection, keyOf, keysFor, strings } from './key-ranges';

/** The entries of one field whose keys are in a range and, if `substring` is given, contain it. */
export interface FieldRange extends KeyRange {
  field: number;
  substring?: Buffer;
}

/**
 * A read of the field index that finds every entity for which a clause is true. It may find others,
 * so each entity is also checked against the clause itself.
 */
export interface Scan {
  /**
   * The field whose conditions the scan evaluates. Null if the scan reads several fields or
   * implied entries.
   */
  field: number | null;
  keyRanges: FieldRange[];
  /** The scan also finds entities that lack one of these fields. */
  absent: number[];
}

/**
 * Maximum number of scalars that are looked up for an object or array that must be
 * equal as a whole.
 */
const maxImplied = 4;

/**
 * The scans for clauses that must all hold. Conditions on the same field share a scan, and
 * alternatives are united in one scan. Clauses on `createdAt` and `id` need no scan
 * (`positionRangeOf`).
 */
export function scansOf(clauses: readonly Clause[]): Scan[] {
  const byField = new Map<number, FieldKeys>();
  const scans: Scan[] = [];
  for (const clause of clauses) {
    if (clause.length !== 1) {
      const union = unionOf(clause);
      if (union !== null) scans.push(union);
      continue;
    }
    const condition = clause[0]!;
    const field = indexedField(condition.field);
    if (field === null) continue;
    const keys = keysFor(condition);
    if (keys !== null) {
      const others = byField.get(field);
      byField.set(field, others === undefined ? keys : intersection(others, keys));
    }
    scans.push(...impliedScans(condition));
  }
  for (const [field, { ranges, absent }] of byField) {
    // `status` and `updatedAt` always exist.
    const mayLack = absent && field !== statusField && field !== updatedAtField;
    scans.unshift({
      field,
      keyRanges: ranges.map((range) => ({ field, ...range })),
      absent: mayLack ? [field] : [],
    });
  }
  return scans;
}

/** The number of a field in the index. Null if the field is not indexed. */
export function indexedField(field: Field): number | null {
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

function unionOf(clause: Clause): Scan | null {
  const scans = clause.map((condition) => scansOf([[condition]])[0]);
  if (!scans.every((scan) => scan !== undefined)) return null;
  return {
    field: null,
    keyRanges: scans.flatMap(({ keyRanges }) => keyRanges),
    absent: scans.flatMap(({ absent }) => absent),
  };
}

/**
 * Scans for entries that a matching entity must have: the element or text of `$contains`, and
 * scalars inside an object or array that must be equal as a whole.
 */
function impliedScans({ field, operator, operand }: Condition): Scan[] {
  if (field.kind !== 'data') return [];
  if (operator === '$contains') return [containing(field.path, operand)];
  if (operator !== '$eq' || typeof operand !== 'object' || operand === null) return [];
  const scans: Scan[] = [];
  const queue: { path: string[]; value: Json[] | JsonObject }[] = [
    { path: field.path, value: operand },
  ];
  for (let next = 0; next < queue.length && scans.length < maxImplied; next += 1) {
    const { path, value } = queue[next]!;
    if (Array.isArray(value)) {
      for (const item of value)
        if (typeof item !== 'object') scans.push(entriesOf(elementsHash(path), item));
    } else {
      if (path.length >= maxPathLength) continue;
      for (const [key, item] of Object.entries(value)) {
        if (typeof item === 'object' && item !== null)
          queue.push({ path: [...path, key], value: item });
        else scans.push(entriesOf(fieldHash([...path, key]), item));
      }
    }
  }
  return scans.slice(0, maxImplied);
}

const entriesOf = (field: number, value: Json): Scan => ({
  field: null,
  keyRanges: [{ field, ...keyOf(value) }],
  absent: [],
});

function containing(path: string[], operand: Json): Scan {
  const elements = entriesOf(elementsHash(path), operand);
  if (typeof operand === 'string')
    elements.keyRanges.push({
      field: fieldHash(path),
      ...strings,
      substring: Buffer.from(operand, 'utf8'),
    });
  return elements;
}
