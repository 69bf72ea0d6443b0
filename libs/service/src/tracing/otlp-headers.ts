import { validateHeaderName, validateHeaderValue } from 'node:http';

/**
 * Parses `name=value,…`; values may be percent-encoded. Throws for what cannot be sent as a header.
 */
export function parseOtlpHeaders(text: string): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const pair of text.split(',')) {
    if (pair.trim() === '') continue;
    const at = pair.indexOf('=');
    if (at === -1) throw new Error('A header has no value');
    const name = pair.slice(0, at).trim();
    const value = decodeURIComponent(pair.slice(at + 1).trim());
    validateHeaderName(name);
    validateHeaderValue(name, value);
    headers[name] = value;
  }
  return headers;
}
