import { randomBytes } from 'node:crypto';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

let lastMs = 0;
let sequence = 0;

/**
 * Returns a new id: `<prefix>_` and 26 characters of Crockford base32 with 48 bits of Unix
 * milliseconds, a sequence of 16 bits and 64 random bits. The ids of one process sort in the order
 * of their creation, even within a millisecond and when the clock is set back. The random bits make
 * ids unique between processes and hard to guess.
 */
export function newId(prefix: string, nowMs: number = Date.now()): string {
  if (nowMs > lastMs) {
    lastMs = nowMs;
    sequence = 0;
  } else if (++sequence > 0xffff) {
    lastMs += 1;
    sequence = 0;
  }
  const high = (BigInt(lastMs) << 16n) | BigInt(sequence);
  return `${prefix}_${base32((high << 64n) | randomBytes(8).readBigUInt64BE())}`;
}

function base32(value: bigint): string {
  let text = '';
  for (let shift = 125n; shift >= 0n; shift -= 5n) text += alphabet[Number((value >> shift) & 31n)];
  return text;
}
