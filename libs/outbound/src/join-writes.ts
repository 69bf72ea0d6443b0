import type { Socket } from 'node:net';

type Write = { chunk: Buffer | string; encoding: BufferEncoding };

/**
 * Sends what is written to a socket together in one piece, as a driver writes a statement in four messages and undici a request in
 * two: a system call with several pieces takes twice as long as one with a single piece (docs/adr/0074).
 */
export function joinWrites(socket: Socket): Socket {
  socket._writev = (chunks: Write[], callback) => {
    const pieces = chunks.map(({ chunk, encoding }) =>
      typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk,
    );
    socket._write(Buffer.concat(pieces), 'buffer' as BufferEncoding, callback);
  };
  return socket;
}
