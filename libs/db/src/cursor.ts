import { hash } from 'node:crypto';

const version = 'c1';

/**
 * Encodes a cursor: the version, a hash of the query, and the position. The hash binds the cursor
 * to its query, because a position in one order has no meaning in another.
 */
export function encodeCursor(query: string, position: readonly string[]): string {
  return `${version}.${Buffer.from(JSON.stringify([fingerprint(query), ...position])).toString('base64url')}`;
}

/**
 * The position in a cursor. Null if the cursor is invalid, has another version or belongs
 * to another query.
 */
export function decodeCursor(query: string, cursor: string): string[] | null {
  const [prefix, body, ...rest] = cursor.split('.');
  if (prefix !== version || body === undefined || rest.length > 0 || body.length > 2_000)
    return null;
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
