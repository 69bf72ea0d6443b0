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
  sendText(response, status, jsonOf(body), headers);
}

/** The JSON text of a body, and its size in UTF-8. */
export function jsonOf(body: unknown): JsonText {
  const text = body instanceof RawJson ? body.text : JSON.stringify(body);
  return { text, bytes: Buffer.byteLength(text) };
}

interface JsonText {
  text: string;
  bytes: number;
}

/** The same for a text that `jsonOf` has made. */
export function sendText(
  response: ServerResponse,
  status: number,
  { text, bytes }: JsonText,
  headers: OutgoingHttpHeaders = {},
): void {
  headers['Content-Type'] = 'application/json; charset=utf-8';
  headers['Content-Length'] = bytes;
  response.writeHead(status, headers);
  // Node sends ASCII text as latin1 without converting it.
  response.end(text, bytes === text.length ? 'latin1' : 'utf8');
}
