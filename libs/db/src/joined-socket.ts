import { Socket } from 'node:net';

type Write = { chunk: Buffer | string; encoding: BufferEncoding };

/**
 * A socket that sends what is written together in one piece. The driver writes a statement as four messages, and a system call
 * with several pieces takes twice as long as one with a single piece (docs/adr/0074).
 */
export class JoinedSocket extends Socket {
  override _writev(chunks: Write[], callback: (error?: Error | null) => void): void {
    const pieces = chunks.map(({ chunk, encoding }) =>
      typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk,
    );
    this._write(Buffer.concat(pieces), 'buffer' as BufferEncoding, callback);
  }
}
