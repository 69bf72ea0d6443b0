import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { ownValue } from '@parley/contracts';

type Read =
  { ok: true; body: Buffer } | { ok: false; reason: 'too_large' | 'network'; message: string };

const decoders: Record<
  string,
  (body: Buffer, limits: { maxOutputLength: number }) => Promise<Buffer>
> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/** Reads and decompresses a body. The limit applies before and after decompression. */
export async function decodeBody(
  answer: Dispatcher.ResponseData,
  limitBytes: number,
): Promise<Read> {
  const tooLarge: Read = {
    ok: false,
    reason: 'too_large',
    message: `The answer is larger than ${limitBytes} bytes`,
  };
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer.body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limitBytes) return tooLarge;
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  const encoding = String(answer.headers['content-encoding'] ?? 'identity').toLowerCase();
  if (encoding === 'identity' || body.length === 0) return { ok: true, body };
  const decode = ownValue(decoders, encoding);
  if (!decode)
    return { ok: false, reason: 'network', message: 'The answer has an unknown encoding' };
  try {
    return { ok: true, body: await decode(body, { maxOutputLength: limitBytes }) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return tooLarge;
    return { ok: false, reason: 'network', message: 'The answer could not be decompressed' };
  }
}
