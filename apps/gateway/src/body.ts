import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { HttpError, payloadTooLarge } from '@parley/service';

export type OutgoingBody = Buffer | Readable | null;

/** Up to this size a body is complete before the upstream hears of it, so that a slow client holds no connection there. */
const holdBytes = 64 * 1024;

/** The service's own 413, but on a connection that stays open until the client has stopped sending. */
const tooLarge = (limitBytes: number): HttpError => {
  const { status, code, message } = payloadTooLarge(limitBytes);
  return new HttpError(status, code, message);
};

export class ClientGone extends Error {}

/** Refuses by Content-Length what is too large before any of it is read. */
export function checkLength({ headers }: IncomingMessage, limitBytes: number): void {
  if (Number(headers['content-length'] ?? 0) > limitBytes) throw tooLarge(limitBytes);
}

/** The bytes of a request as they came: in memory when small, as a stream that breaks at the limit otherwise. */
export async function outgoingBody(request: IncomingMessage, limitBytes: number): Promise<OutgoingBody> {
  const { headers } = request;
  const length = headers['content-length'];
  if (length === undefined && headers['transfer-encoding'] === undefined) return null;
  if (length === '0') return null;
  if (length !== undefined && Number(length) <= holdBytes) return readAll(request);
  return Readable.from(untilLimit(request, limitBytes), { objectMode: false, highWaterMark: holdBytes });
}

function readAll(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.once('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    request.once('error', () => reject(new ClientGone('the client left while it was sending')));
  });
}

async function* untilLimit(request: IncomingMessage, limitBytes: number): AsyncGenerator<Buffer> {
  let size = 0;
  // The request must outlive a refusal, or its connection would break before the client has read the answer.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limitBytes) throw tooLarge(limitBytes);
    yield chunk;
  }
}

/** How long and how much a client may go on sending what nobody reads. */
const lingerMs = 5_000;

/** After an answer came before the end of its request: takes in the rest, so that the client gets to read the answer. */
export function drain(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  const { socket } = request;
  const giveUp = setTimeout(() => socket.destroy(), lingerMs);
  const done = () => {
    clearTimeout(giveUp);
    socket.off('close', done);
  };
  // Node forgets a request that is answered, so what becomes of it shows on the socket.
  socket.once('close', done);
  request.once('end', done);
  request.on('error', () => {});
  request.on('data', () => {});
  request.resume();
}
