import type { IncomingMessage } from 'node:http';
import { findUnstorable } from '@parley/contracts';
import { badRequest, payloadTooLarge, unsupportedEncoding } from './errors';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/**
 * Reads the body of a request as bytes. Rejects with 413 when it exceeds the limit, 415 when
 * it is compressed.
 */
export function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity')
    return Promise.reject(unsupportedEncoding());
  if (Number(request.headers['content-length'] ?? 0) > limitBytes)
    return Promise.reject(payloadTooLarge(limitBytes));
  const incomplete = () =>
    badRequest('The request ended before its body', undefined, 'incomplete_body');
  // A request without a body (`optimizeEmptyRequests`) emits no events.
  if (request.readableEnded) return Promise.resolve(Buffer.alloc(0));
  if (request.destroyed) return Promise.reject(incomplete());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > limitBytes) finish(payloadTooLarge(limitBytes));
    };
    const onEnd = () => finish(null);
    // The client has disconnected and receives no answer; the rejection only ends the handler.
    const onClose = () => finish(incomplete());
    const finish = (error: Error | null) => {
      request.off('data', onData).off('end', onEnd).off('error', onClose).off('close', onClose);
      if (error !== null) reject(error);
      else resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
    };
    request.on('data', onData).on('end', onEnd).on('error', onClose).on('close', onClose);
  });
}

/**
 * Parses a JSON body. Rejects malformed JSON, invalid UTF-8 and values that cannot be
 * stored with 400.
 */
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
  if (problem !== null)
    throw badRequest(`${problem.path || 'body'} ${problem.message}`, [problem], 'invalid_body');
  return value;
}
