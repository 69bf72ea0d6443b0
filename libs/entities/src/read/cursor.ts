import { lastPosition } from '../field-index/position';

/** The entity behind which a page starts. */
export interface PageStart {
  /**
   * Its key in a sort by a field, in hexadecimal. Null if it lacks the field, and in the
   * order of creation.
   */
  key: string | null;
  pos: string;
}

/** The content of a cursor that points behind an entity. */
export const positionOf = ({ key, pos }: PageStart, isSorted: boolean): string[] =>
  isSorted ? [key ?? 'absent', pos] : [pos];

/** The start of a page from the content of a cursor. Null if the content is invalid. */
export function startOf(position: readonly string[] | null, isSorted: boolean): PageStart | null {
  const [key, pos] = isSorted ? (position ?? []) : ['absent', ...(position ?? [])];
  if (
    key === undefined ||
    pos === undefined ||
    !/^\d{1,19}$/.test(pos) ||
    BigInt(pos) >= lastPosition
  )
    return null;
  if (key === 'absent') return { key: null, pos };
  return /^([0-9a-f]{2}){1,150}$/.test(key) ? { key, pos } : null;
}
