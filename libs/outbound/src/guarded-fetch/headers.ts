import type { IncomingHttpHeaders } from 'node:http';
import { validateHeaderName, validateHeaderValue } from 'node:http';

type Headers = [name: string, value: string][];

/** Belong to one connection or are ours to set. */
const ours = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'via',
]);
const credentials = new Set(['authorization', 'cookie']);

/** What may be sent of a stranger's headers, lower-cased, or null when one of them is malformed. */
export function cleanRequestHeaders(headers: Headers): Headers | null {
  const clean: Headers = [];
  for (const [name, value] of headers) {
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch {
      return null;
    }
    if (!ours.has(name.toLowerCase())) clean.push([name.toLowerCase(), value]);
  }
  if (!clean.some(([name]) => name === 'user-agent')) clean.push(['user-agent', 'parley-tools']);
  if (!clean.some(([name]) => name === 'accept')) clean.push(['accept', '*/*']);
  // Without compression the size limit is the size on the wire.
  clean.push(['accept-encoding', 'identity']);
  return clean;
}

/** For a redirect to another origin. */
export const dropCredentials = (headers: Headers): Headers => headers.filter(([name]) => !credentials.has(name));

export function cleanResponseHeaders(headers: IncomingHttpHeaders): Headers {
  return Object.entries(headers).flatMap(([name, value]) =>
    value === undefined || ours.has(name) ? [] : [value].flat().map((one): [string, string] => [name, one]),
  );
}
