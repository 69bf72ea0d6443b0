import type { IncomingMessage } from 'node:http';
import { findUnstorable } from '@parley/contracts';
import { badRequest, payloadTooLarge, unsupportedEncoding } from './errors';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/** The raw bytes of a request, refused with 413 as soon as they pass the limit. */
export async function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') throw unsupportedEncoding();
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) throw payloadTooLarge(limitBytes);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limitBytes) throw payloadTooLarge(limitBytes);
    chunks.push(chunk);
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}

/** A parsed JSON body. Malformed text, invalid UTF-8 and what no store could keep is a 400 that says where. */
export async function readJson(request: IncomingMessage, limitBytes: number): Promise<unknown> {
  const bytes = await readBody(request, limitBytes);
  if (bytes.length === 0) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(decoder.decode(bytes));
  } catch {
    throw badRequest('Malformed JSON in the request body', undefined, 'malformed_json');
  }
  const problem = findUnstorable(value);
  if (problem !== null) throw badRequest(`${problem.path || 'body'} ${problem.message}`, [problem], 'invalid_body');
  return value;
}
