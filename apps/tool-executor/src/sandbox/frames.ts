/**
 * One message between the service and a sandbox process: a JSON head, followed by raw bytes when
 * there is a body.
 */
export interface Frame<Head> {
  head: Head;
  bytes?: Uint8Array;
}

/** A frame with its size in bytes. */
export type ReceivedFrame<Head> = Frame<Head> & { size: number };

/**
 * Above each single limit (code, args, result, a fetched body) plus the head. A larger frame
 * means a broken peer.
 */
const maxFrameBytes = 8 * 1024 * 1024;

const prefixBytes = 8;

/**
 * Layout: length of all that follows (uint32), length of the head (uint32), head,
 * bytes. Little-endian.
 */
export function encodeFrame<Head>({ head, bytes }: Frame<Head>): Buffer {
  const text = JSON.stringify(head);
  const headBytes = Buffer.byteLength(text);
  const frame = Buffer.allocUnsafe(prefixBytes + headBytes + (bytes?.length ?? 0));
  frame.writeUInt32LE(frame.length - 4, 0);
  frame.writeUInt32LE(headBytes, 4);
  frame.write(text, prefixBytes, 'utf8');
  if (bytes) frame.set(bytes, prefixBytes + headBytes);
  return frame;
}

/** Splits a stream of bytes into frames. Throws when a length is too large or inconsistent. */
export function createFrameReader<Head>(
  onFrame: (frame: ReceivedFrame<Head>) => void,
): (chunk: Buffer) => void {
  let chunks: Buffer[] = [];
  let size = 0;
  const take = (): Buffer => {
    const all = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
    chunks = [];
    return all;
  };
  return (chunk) => {
    chunks.push(chunk);
    size += chunk.length;
    while (size >= prefixBytes) {
      if (chunks[0]!.length < prefixBytes) chunks = [take()];
      const length = chunks[0]!.readUInt32LE(0) + 4;
      if (length > maxFrameBytes || length < prefixBytes) throw new Error('Frame too large');
      if (size < length) return;
      const all = take();
      const headEnd = prefixBytes + all.readUInt32LE(4);
      if (headEnd > length) throw new Error('Frame head longer than its frame');
      size = all.length - length;
      if (size > 0) chunks.push(all.subarray(length));
      const head = JSON.parse(all.toString('utf8', prefixBytes, headEnd)) as Head;
      onFrame({
        head,
        size: length,
        bytes: headEnd < length ? all.subarray(headEnd, length) : undefined,
      });
    }
  };
}
