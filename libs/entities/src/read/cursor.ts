import { hash } from 'node:crypto';
import { lastPosition } from '../field-index/position';

const version = 'c1';

/** The entity behind which a page starts. */
export interface PageStart {
  /** Its key in a sort by a field, in hexadecimal. Null if it lacks the field, and in the order of creation. */
  key: string | null;
  pos: string;
}

/** The content of a cursor that points behind an entity. */
export const positionOf = ({ key, pos }: PageStart, isSorted: boolean): string[] =>
  isSorted ? [key ?? 'absent', pos] : [pos];

/** The start of a page from the content of a cursor. Null if the content is invalid. */
export function startOf(position: readonly string[] | null, isSorted: boolean): PageStart | null {
  const [key, pos] = isSorted ? (position ?? []) : ['absent', ...(position ?? [])];
  if (key === undefined || pos === undefined || !/^\d{1,19}$/.test(pos) || BigInt(pos) >= lastPosition) return null;
  if (key === 'absent') return { key: null, pos };
  return /^([0-9a-f]{2}){1,150}$/.test(key) ? { key, pos } : null;
}

/**
 * Encodes a cursor: the version, a hash of the query, and the position. The hash binds the cursor to its query, because a
 * position in one order has no meaning in another.
 */
export function encodeCursor(query: string, position: readonly string[]): string {
  return `${version}.${Buffer.from(JSON.stringify([fingerprint(query), ...position])).toString('base64url')}`;
}

/** The position in a cursor. Null if the cursor is invalid, has another version or belongs to another query. */
export function decodeCursor(query: string, cursor: string): string[] | null {
  const [prefix, body, ...rest] = cursor.split('.');
  if (prefix !== version || body === undefined || rest.length > 0 || body.length > 2_000) return null;
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(body, 'base64url').toString('utf8'));
  } catch {
    return null;
  }
  if (!Array.isArray(parsed) || !parsed.every((item) => typeof item === 'string')) return null;
  const [queryHash, ...position] = parsed as string[];
  return queryHash === fingerprint(query) ? position : null;
}

const fingerprint = (query: string): string => hash('sha256', query, 'base64url').slice(0, 12);
