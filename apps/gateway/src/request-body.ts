import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { HttpError, payloadTooLarge } from '@parley/service';

export type OutgoingBody = Buffer | Readable | null;

/** A body up to this size is read completely before the upstream is called, so that a slow client occupies no connection. */
const bufferedBytes = 64 * 1024;

/** The 413 of the services without their `Connection: close`: the client can still read it while it sends. */
const tooLarge = (limitBytes: number): HttpError => {
  const { status, code, message } = payloadTooLarge(limitBytes);
  return new HttpError(status, code, message);
};

export class ClientDisconnected extends Error {}

/** Refuses a request whose Content-Length is above the limit, before its body is read. */
export function checkLength({ headers }: IncomingMessage, limitBytes: number): void {
  if (Number(headers['content-length'] ?? 0) > limitBytes) throw tooLarge(limitBytes);
}

/** The unchanged body of a request: a small one in memory, a larger one as a stream that fails at the limit. */
export async function outgoingBody(request: IncomingMessage, limitBytes: number): Promise<OutgoingBody> {
  const { headers } = request;
  const length = headers['content-length'];
  if (length === undefined && headers['transfer-encoding'] === undefined) return null;
  if (length === '0') return null;
  if (length !== undefined && Number(length) <= bufferedBytes) return readAll(request);
  return Readable.from(readUpTo(request, limitBytes), { objectMode: false, highWaterMark: bufferedBytes });
}

function readAll(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.once('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    request.once('error', () =>
      reject(new ClientDisconnected('The client disconnected before its request was complete')),
    );
  });
}

async function* readUpTo(request: IncomingMessage, limitBytes: number): AsyncGenerator<Buffer> {
  let size = 0;
  // The request is not destroyed on a refusal: that would close the connection before the client has read the answer.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limitBytes) throw tooLarge(limitBytes);
    yield chunk;
  }
}

/** How long a client may continue to send a request that has already been answered. */
const lingerMs = 5_000;

/** Reads and discards the rest of a request that was answered before its end, so that the client can read the answer. */
export function drain(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  const { socket } = request;
  const giveUp = setTimeout(() => socket.destroy(), lingerMs);
  const done = () => {
    clearTimeout(giveUp);
    socket.off('close', done);
  };
  // Node emits no `close` on a request that has been answered; the socket's event is used instead.
  socket.once('close', done);
  request.once('end', done);
  request.on('error', () => {});
  request.on('data', () => {});
  request.resume();
}
