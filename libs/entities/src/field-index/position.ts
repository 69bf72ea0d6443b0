import type { Json } from '@parley/contracts';
import type { Clause, Condition } from '../filter/condition';

/**
 * An entity's position in the order of creation: its creation time in milliseconds, followed by 21
 * bits that distinguish the entities of one millisecond. The SQL function `time_id` generates it.
 * Ids begin with the position and sort like it.
 */
const tieBits = 21n;
const idPrefix = 'ent_';
const hexDigits = 16;

export const firstPosition = 0n;
export const lastPosition = 2n ** 63n - 1n;

export interface PositionRange {
  lo: bigint;
  hi: bigint;
}

/** SQL of the id of an entity at this position. The random suffix makes the id unguessable. */
export const idSql = (pos: string, suffix: string): string =>
  `'${idPrefix}' || lpad(to_hex(${pos}), ${hexDigits}, '0') || ${suffix}`;

/** SQL of the creation time at a position. */
export const createdAtSql = (pos: string): string => `(${pos} >> ${tieBits})`;

/**
 * A range that contains the positions of all entities that match these clauses, derived from
 * `createdAt` and `id`.
 */
export function positionRangeOf(clauses: readonly Clause[]): PositionRange {
  const range = { lo: firstPosition, hi: lastPosition };
  for (const clause of clauses) {
    if (clause.length !== 1) continue;
    const { lo, hi } = conditionRange(clause[0]!);
    if (lo > range.lo) range.lo = lo;
    if (hi < range.hi) range.hi = hi;
  }
  return range;
}

/** The positions of the ids that a clause lists with `$eq` or `$in`. Null without such a clause. */
export function listedPositions(clauses: readonly Clause[]): bigint[] | null {
  for (const clause of clauses) {
    const { field, operator, operand } = clause[0] ?? {};
    if (clause.length !== 1 || field?.kind !== 'id') continue;
    const ids = operator === '$eq' ? [operand] : operator === '$in' ? (operand as Json[]) : null;
    if (ids !== null)
      return ids.map((id) => positionOfId(id as string)).filter((pos) => pos !== null);
  }
  return null;
}

/** The position at the beginning of an id. Null if the text is not the id of an entity. */
export function positionOfId(id: string): bigint | null {
  const hex = /^ent_([0-7][0-9a-f]{15})/.exec(id)?.[1];
  return hex === undefined ? null : BigInt(`0x${hex}`);
}

const nothing: PositionRange = { lo: lastPosition, hi: firstPosition };

function conditionRange({ field, operator, operand }: Condition): PositionRange {
  const all = { lo: firstPosition, hi: lastPosition };
  if (field.kind !== 'createdAt' && field.kind !== 'id') return all;
  if (operator === '$exists') return operand === true ? all : nothing;
  const bound = field.kind === 'id' ? idBounds : timeBounds;
  switch (operator) {
    case '$eq':
      return bound(operand);
    case '$in': {
      const bounds = (operand as Json[]).map(bound);
      if (bounds.length === 0) return nothing;
      return {
        lo: bounds.reduce((least, { lo }) => (lo < least ? lo : least), lastPosition),
        hi: bounds.reduce((most, { hi }) => (hi > most ? hi : most), firstPosition),
      };
    }
    case '$gt':
    case '$gte':
      return { lo: bound(operand).lo, hi: lastPosition };
    case '$lt':
    case '$lte':
      return { lo: firstPosition, hi: bound(operand).hi };
    default:
      return all;
  }
}

/**
 * The positions of this millisecond. For a fraction, the positions of the milliseconds
 * before and after it.
 */
function timeBounds(operand: Json): PositionRange {
  const ms = Math.min(Math.max(operand as number, 0), 2 ** 42 - 1);
  return {
    lo: BigInt(Math.floor(ms)) << tieBits,
    hi: ((BigInt(Math.ceil(ms)) + 1n) << tieBits) - 1n,
  };
}

/** The positions whose ids may be equal to this text or may sort on either side of it. */
function idBounds(operand: Json): PositionRange {
  const text = operand as string;
  const prefix = text.slice(0, idPrefix.length);
  if (prefix !== idPrefix.slice(0, text.length) || text.length < idPrefix.length)
    return Buffer.compare(Buffer.from(text), Buffer.from(idPrefix)) < 0
      ? { lo: firstPosition, hi: firstPosition }
      : { lo: lastPosition, hi: lastPosition };
  const digits = /^[0-9a-f]*/.exec(text.slice(idPrefix.length, idPrefix.length + hexDigits))![0];
  const lo = BigInt(`0x${digits.padEnd(hexDigits, '0')}`);
  const hi = BigInt(`0x${digits.padEnd(hexDigits, 'f')}`);
  return { lo: lo > lastPosition ? lastPosition : lo, hi: hi > lastPosition ? lastPosition : hi };
}
