import type { Json, JsonObject } from '@parley/contracts';
import type { Clause, Condition, Field } from '../filter/condition';
import { maxPathLength } from '../filter/parse-filters';
import { elementsHash, fieldHash, statusField, updatedAtField } from './field-hash';
import { type FieldKeys, type KeyRange, intersection, keyOf, keysFor, strings } from './key-ranges';

/** Entries of one field whose keys are in a range; of strings only those that contain `substring`, when it is given. */
export interface FieldRange extends KeyRange {
  field: number;
  substring?: Buffer;
}

/**
 * Reads of the segment index that find every entity for which a clause is true. They may find others: each entity is
 * checked against the clause itself.
 */
export interface Scan {
  /** The one field that the scan reads for conditions on this field itself; null for any other scan. */
  field: number | null;
  keyRanges: FieldRange[];
  /** Entities that lack one of these fields are found too. */
  absent: number[];
}

/** At most this many scalars inside an object or array that a filter asks for are looked up. */
const maxImplied = 4;

/**
 * The scans of clauses that must all hold. Conditions on one field share a scan, alternatives (`or`) are united in one.
 * Clauses that no index entry answers (`createdAt`, `id`) have none.
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
    // Columns are never absent.
    const mayLack = absent && field !== statusField && field !== updatedAtField;
    scans.unshift({ field, keyRanges: ranges.map((range) => ({ field, ...range })), absent: mayLack ? [field] : [] });
  }
  return scans;
}

/** The number under which the index holds a field; null when it does not hold it. */
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
 * Further entries that an entity must have: the elements or the text that `$contains` names, and scalars inside an object
 * or array that must be equal as a whole.
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
  field: null,
  keyRanges: [{ field, ...keyOf(value) }],
  absent: [],
});

function containing(path: string[], operand: Json): Scan {
  const elements = entriesOf(elementsHash(path), operand);
  if (typeof operand === 'string')
    elements.keyRanges.push({ field: fieldHash(path), ...strings, substring: Buffer.from(operand, 'utf8') });
  return elements;
}
