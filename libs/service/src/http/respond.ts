import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** JSON text that is already built, such as a page that PostgreSQL wrote: sent as it is. */
export class RawJson {
  constructor(readonly text: string) {}
}

/** Sends JSON by hand: no ETag, no content negotiation, one write. */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: OutgoingHttpHeaders = {},
): void {
  const text = body instanceof RawJson ? body.text : JSON.stringify(body);
  headers['Content-Type'] = 'application/json; charset=utf-8';
  const bytes = Buffer.byteLength(text);
  headers['Content-Length'] = bytes;
  response.writeHead(status, headers);
  // Text of ASCII alone goes out as it lies in memory.
  response.end(text, bytes === text.length ? 'latin1' : 'utf8');
}
