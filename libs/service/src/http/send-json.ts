import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** JSON text that is sent unchanged, such as a page that PostgreSQL has built. */
export class RawJson {
  constructor(readonly text: string) {}
}

/** Sends a JSON answer in one write, without the ETag and content negotiation of Express. */
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
  // Node sends ASCII text as latin1 without converting it.
  response.end(text, bytes === text.length ? 'latin1' : 'utf8');
}
