import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { z } from 'zod';

/** Encrypts (`seal`) and decrypts (`open`) secrets that are stored in the database. */
export type SecretBox = ReturnType<typeof createSecretBox>;

const keyBytes = 32;
const form = `must be ${keyBytes} bytes in base64 (several are separated by commas)`;
const keysOf = (secretsKey: string) =>
  secretsKey.split(',').map((text) => Buffer.from(text.trim(), 'base64'));

/**
 * SECRETS_KEY in the configuration of a process that encrypts or decrypts secrets.
 * It has no default.
 */
export const secretsKeyVariable = z
  .string()
  .refine((text) => keysOf(text).every((key) => key.length === keyBytes), form)
  .meta({
    description:
      'Key that encrypts the secrets in the database: 32 random bytes in base64. To rotate it, put a new key in front, separated by a comma, and run parley secrets rotate.',
  });

const version = 1;
const keyIdBytes = 4;
const ivBytes = 12;
const tagBytes = 16;

/**
 * Creates a box that uses AES-256-GCM with the keys of SECRETS_KEY. The first key encrypts and all
 * keys decrypt, so a key is rotated by putting the new one first and encrypting stale values again.
 * Layout of a value: version, key id (the first bytes of the key's SHA-256), iv, tag, ciphertext.
 * `purpose`: the box has keys of its own, derived from those of SECRETS_KEY. Values of another
 * purpose cannot be decrypted, and a purpose that seals for unauthenticated callers does not use up
 * the random ivs of the keys of stored secrets.
 */
export function createSecretBox(secretsKey: string, purpose?: string) {
  const keys = keysOf(secretsKey).map((given) => {
    if (given.length !== keyBytes) throw new Error(`SECRETS_KEY ${form}`);
    const key =
      purpose === undefined ? given : Buffer.from(hkdfSync('sha256', given, '', purpose, keyBytes));
    return { id: createHash('sha256').update(key).digest().subarray(0, keyIdBytes), key };
  });
  const current = keys[0]!;
  const keyIdOf = (sealed: Buffer) => sealed.subarray(1, 1 + keyIdBytes);
  /**
   * Throws when the value was changed, has another context, or no key in SECRETS_KEY decrypts it.
   */
  function open(sealed: Buffer, context: string): string {
    const found = keys.find(({ id }) => id.equals(keyIdOf(sealed)));
    if (sealed[0] !== version || found === undefined)
      throw new Error('No key in SECRETS_KEY decrypts this secret');
    const ivAt = 1 + keyIdBytes;
    const tagAt = ivAt + ivBytes;
    const decipher = createDecipheriv('aes-256-gcm', found.key, sealed.subarray(ivAt, tagAt), {
      authTagLength: tagBytes,
    });
    decipher.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(tagAt, tagAt + tagBytes));
    return Buffer.concat([
      decipher.update(sealed.subarray(tagAt + tagBytes)),
      decipher.final(),
    ]).toString('utf8');
  }
  return {
    /**
     * `context` (organization and field) is authenticated, so that a value cannot be
     * decrypted in another row.
     */
    seal(plain: string, context: string): Buffer {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv('aes-256-gcm', current.key, iv).setAAD(Buffer.from(context));
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return Buffer.concat([Buffer.from([version]), current.id, iv, cipher.getAuthTag(), body]);
    },
    open,
    /** The same, with null instead of an error. */
    tryOpen(sealed: Buffer, context: string): string | null {
      try {
        return open(sealed, context);
      } catch {
        return null;
      }
    },
    /** Whether a value is encrypted under an older key and should be encrypted again. */
    isStale: (sealed: Buffer): boolean => !keyIdOf(sealed).equals(current.id),
  };
}

/**
 * A stored secret: its name in messages, its context, and a write that changes no row if the row
 * has changed since.
 */
export interface SealedValue {
  name: string;
  sealed: Buffer;
  context: string;
  replace(sealed: Buffer): Promise<{ rowCount: number }>;
}

/**
 * Encrypts values under an older key of SECRETS_KEY again with the first key, so that the older
 * key can be removed. Values that change during the run are skipped, because their writer has
 * used the first key.
 */
export async function resealStale(
  box: SecretBox,
  values: readonly SealedValue[],
): Promise<{ resealed: number; unreadable: string[] }> {
  let resealed = 0;
  for (const { sealed, context, replace } of values.filter((value) => box.isStale(value.sealed))) {
    const plain = box.tryOpen(sealed, context);
    if (plain !== null) resealed += (await replace(box.seal(plain, context))).rowCount;
  }
  return { resealed, unreadable: unreadableOf(box, values) };
}

/** The names of the values that no key in SECRETS_KEY decrypts. */
export const unreadableOf = (box: SecretBox, values: readonly SealedValue[]): string[] =>
  values
    .filter(({ sealed, context }) => box.tryOpen(sealed, context) === null)
    .map(({ name }) => name);
