import type { IncomingMessage } from 'node:http';
import { HttpError, payloadTooLarge } from '@parley/service';

/**
 * The 413 of the services without their `Connection: close`: the client can still read
 * it while it sends.
 */
export const tooLarge = (limitBytes: number): HttpError => {
  const { status, code, message } = payloadTooLarge(limitBytes);
  return new HttpError(status, code, message);
};

export class ClientDisconnected extends Error {}

/** Refuses a request whose Content-Length is above the limit, before its body is read. */
export function checkLength({ headers }: IncomingMessage, limitBytes: number): void {
  if (Number(headers['content-length'] ?? 0) > limitBytes) throw tooLarge(limitBytes);
}

/** How long a client may continue to send a request that has already been answered. */
const lingerMs = 5_000;

/**
 * Reads and discards the rest of a request that was answered before its end, so that the client can
 * read the answer.
 */
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
