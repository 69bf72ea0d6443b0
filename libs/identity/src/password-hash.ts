import { type ScryptOptions, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { createSlots } from '@parley/outbound';

/**
 * 2^15, 8, 3 is one of the settings that OWASP's Password Storage Cheat Sheet lists. A hash takes
 * 32 MiB and 0.23 s on the machine of docs/bench.md.
 */
const current = { log2N: 15, r: 8, p: 3 };
const hashBytes = 32;

/**
 * Two hashes run at a time: 64 MiB, and half of the threads that Node also needs for files
 * and names of hosts.
 */
const slots = createSlots({ total: 2, perKey: 2 });
const waitMs = 5_000;
const neverAborted = new AbortController().signal;

/** Thrown when so many passwords are being checked that this one would wait for too long. */
export class TooManyPasswords extends Error {}

export const newSalt = (): string => randomBytes(16).toString('base64url');

/**
 * Hashes a password in a thread: `scrypt$15$8$3$<salt>$<hash>`. The salt is the one of the e-mail
 * address (saltOfEmail).
 */
export async function hashPassword(password: string, salt = newSalt()): Promise<string> {
  const { log2N, r, p } = current;
  const prefix = ['scrypt', log2N, r, p, salt].join('$');
  return `${prefix}$${(await derive(password, prefix)).toString('base64url')}`;
}

/**
 * Has the cost of a real hash, so that the time of an answer does not show whether a
 * person has a password.
 */
const unknownPerson = `scrypt$${current.log2N}$${current.r}$${current.p}$${'A'.repeat(22)}$${'A'.repeat(43)}`;

/**
 * All passwords of an address have one salt. More are left from an upgrade only, and are not
 * tried without end.
 */
const maxSalts = 3;

/**
 * The first of the stored hashes that the password has; null when it has none. One hash is computed
 * for all that have the same salt, and also when there are none, so the time does not show how many
 * accounts have an address.
 */
export async function matchPassword(
  stored: readonly string[],
  password: string,
): Promise<string | null> {
  const prefixes = new Set((stored.length === 0 ? [unknownPerson] : stored).map(prefixOf));
  for (const prefix of [...prefixes].slice(0, maxSalts)) {
    const derived = await derive(password, prefix);
    const match = stored.find(
      (one) => prefixOf(one) === prefix && timingSafeEqual(derived, hashOf(one)),
    );
    if (match !== undefined) return match;
  }
  return null;
}

/** What a stored hash was computed with: everything before the hash itself. */
const prefixOf = (stored: string): string => stored.slice(0, stored.lastIndexOf('$'));
const hashOf = (stored: string): Buffer =>
  Buffer.from(stored.slice(stored.lastIndexOf('$') + 1), 'base64url');

async function derive(password: string, prefix: string): Promise<Buffer> {
  const [, log2N, r, p, salt = ''] = prefix.split('$');
  const N = 2 ** Number(log2N);
  const options: ScryptOptions = { N, r: Number(r), p: Number(p), maxmem: 256 * N * Number(r) };
  const release = await slots.acquire('scrypt', neverAborted, waitMs);
  if (release === null) throw new TooManyPasswords('Too many passwords are being checked');
  try {
    return await new Promise((resolve, reject) => {
      // The same password may be typed as different code points on different keyboards.
      scrypt(
        password.normalize('NFKC'),
        Buffer.from(salt, 'base64url'),
        hashBytes,
        options,
        (error, key) => (error ? reject(error) : resolve(key)),
      );
    });
  } finally {
    release();
  }
}
