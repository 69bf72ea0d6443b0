import { type IncomingHttpHeaders, validateHeaderName, validateHeaderValue } from 'node:http';

type Headers = [name: string, value: string][];

/** Headers of one connection, and headers that only the client sets. */
const excluded = new Set([
  ...'accept-encoding connection content-length expect host keep-alive te trailer transfer-encoding upgrade'.split(
    ' ',
  ),
  ...'proxy-authenticate proxy-authorization proxy-connection via'.split(' '),
]);
const credentials = new Set(['authorization', 'cookie', 'x-api-key']);

/**
 * Returns the headers that may be sent, in lower case; null when one of the given
 * headers is malformed.
 */
export function cleanRequestHeaders(headers: Headers): Headers | null {
  const clean: Headers = [];
  for (const [name, value] of headers) {
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch {
      return null;
    }
    if (!excluded.has(name.toLowerCase())) clean.push([name.toLowerCase(), value]);
  }
  if (!clean.some(([name]) => name === 'user-agent')) clean.push(['user-agent', 'parley-tools']);
  if (!clean.some(([name]) => name === 'accept')) clean.push(['accept', '*/*']);
  // Refuses compression, so that the size limit applies to the transferred bytes.
  clean.push(['accept-encoding', 'identity']);
  return clean;
}

/** Removes credentials, for a redirect to another origin. */
export const dropCredentials = (headers: Headers): Headers =>
  headers.filter(([name]) => !credentials.has(name));

export function cleanResponseHeaders(headers: IncomingHttpHeaders): Headers {
  return Object.entries(headers).flatMap(([name, value]) =>
    value === undefined || excluded.has(name)
      ? []
      : [value].flat().map((single): [string, string] => [name, single]),
  );
}
