import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HeaderList } from './headers';

export interface Content {
  type: string;
  /** By which a browser asks whether the content has changed. */
  tag: string;
  plain: Buffer | string;
  /** The same bytes, compressed; null or absent when they are not. */
  br?: Buffer | null;
  gzip?: Buffer | null;
}

const accepts = ({ headers }: IncomingMessage, coding: 'br' | 'gzip'): boolean =>
  new RegExp(`\\b${coding}\\b(?!\\s*;\\s*q=0(?:\\.0*)?\\s*(?:,|$))`, 'i').test(
    String(headers['accept-encoding'] ?? ''),
  );

/**
 * Answers a GET or HEAD with content, compressed if the client accepts that, or with 304 if
 * the client has it.
 */
export function sendContent(
  request: IncomingMessage,
  response: ServerResponse,
  content: Content,
  own: HeaderList,
  cacheControl: string,
): void {
  const headers = [
    ...own,
    'Cache-Control',
    cacheControl,
    'ETag',
    content.tag,
    'Vary',
    'Accept-Encoding',
  ];
  if (request.headers['if-none-match'] === content.tag) {
    response.writeHead(304, headers).end();
    return;
  }
  const coding = (['br', 'gzip'] as const).find((one) => content[one] && accepts(request, one));
  const bytes = (coding && content[coding]) ?? content.plain;
  if (coding !== undefined) headers.push('Content-Encoding', coding);
  response.writeHead(200, [
    ...headers,
    'Content-Type',
    content.type,
    'Content-Length',
    String(Buffer.byteLength(bytes)),
  ]);
  response.end(request.method === 'HEAD' ? undefined : bytes);
}
