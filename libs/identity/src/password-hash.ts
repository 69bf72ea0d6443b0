import { type ScryptOptions, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { createSlots } from '@parley/outbound';

/**
 * 2^15, 8, 3 is one of the settings that OWASP's Password Storage Cheat Sheet lists. A hash takes 32 MiB and 0.23 s on the machine of docs/bench.md.
 */
const current = { log2N: 15, r: 8, p: 3 };
const hashBytes = 32;

/** Two hashes run at a time: 64 MiB, and half of the threads that Node also needs for files and names of hosts. */
const slots = createSlots({ total: 2, perKey: 2 });
const waitMs = 5_000;
const neverAborted = new AbortController().signal;

/** Thrown when so many passwords are being checked that this one would wait for too long. */
export class TooManyPasswords extends Error {}

/** Hashes a password in a thread: `scrypt$15$8$3$<salt>$<hash>`. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const hash = await derive(password, salt, current);
  const { log2N, r, p } = current;
  return ['scrypt', log2N, r, p, salt.toString('base64url'), hash.toString('base64url')].join('$');
}

/** Has the cost of a real hash, so that the time of an answer does not show whether a person has a password. */
const unknownPerson = `scrypt$${current.log2N}$${current.r}$${current.p}$${'A'.repeat(22)}$${'A'.repeat(43)}`;

/** Whether the password has the stored hash. Takes as long without a stored hash, and is then false. */
export async function isPasswordOf(stored: string | null, password: string): Promise<boolean> {
  const [, log2N, r, p, salt = '', hash = ''] = (stored ?? unknownPerson).split('$');
  const derived = await derive(password, Buffer.from(salt, 'base64url'), {
    log2N: Number(log2N),
    r: Number(r),
    p: Number(p),
  });
  return timingSafeEqual(derived, Buffer.from(hash, 'base64url')) && stored !== null;
}

async function derive(password: string, salt: Buffer, { log2N, r, p }: typeof current): Promise<Buffer> {
  const N = 2 ** log2N;
  const options: ScryptOptions = { N, r, p, maxmem: 256 * N * r };
  const release = await slots.acquire('scrypt', neverAborted, waitMs);
  if (release === null) throw new TooManyPasswords('Too many passwords are being checked');
  try {
    return await new Promise((resolve, reject) => {
      // The same password may be typed as different code points on different keyboards.
      scrypt(password.normalize('NFKC'), salt, hashBytes, options, (error, key) =>
        error ? reject(error) : resolve(key),
      );
    });
  } finally {
    release();
  }
}
