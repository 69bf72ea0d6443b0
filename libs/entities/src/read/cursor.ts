import { hash } from 'node:crypto';

const version = 'c1';

/**
 * A page's place as an opaque text: the version, what it belongs to, and where the page ended. It is bound to its
 * query, because a place in one order means nothing in another.
 */
export function encodeCursor(query: string, position: readonly string[]): string {
  return `${version}.${Buffer.from(JSON.stringify([fingerprint(query), ...position])).toString('base64url')}`;
}

/** The position in a cursor; null when it is broken, of another version or of another query. */
export function decodeCursor(query: string, cursor: string): string[] | null {
  const [prefix, body, ...rest] = cursor.split('.');
  if (prefix !== version || body === undefined || rest.length > 0 || body.length > 2_000) return null;
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(body, 'base64url').toString('utf8'));
  } catch {
    return null;
  }
  if (!Array.isArray(parsed) || !parsed.every((part) => typeof part === 'string')) return null;
  const [print, ...position] = parsed as string[];
  return print === fingerprint(query) ? position : null;
}

const fingerprint = (query: string): string => hash('sha256', query, 'base64url').slice(0, 12);
