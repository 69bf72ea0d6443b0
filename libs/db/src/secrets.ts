import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';

/** Encrypts and decrypts what must not be readable in the database. */
export interface SecretBox {
  /** `context` (organization and field) is authenticated: a value copied to another row does not open. */
  seal(plain: string, context: string): Buffer;
  open(sealed: Buffer, context: string): string;
  /** Whether a value was sealed under an older key and should be sealed again. */
  isStale(sealed: Buffer): boolean;
}

const keyBytes = 32;
const form = `must be ${keyBytes} bytes in base64 (several are separated by commas)`;
const keysOf = (secretsKey: string) => secretsKey.split(',').map((text) => Buffer.from(text.trim(), 'base64'));

/** SECRETS_KEY in the configuration of a process that seals or opens secrets. It has no default anywhere. */
export const secretsKeyVariable = z
  .string()
  .refine((text) => keysOf(text).every((key) => key.length === keyBytes), form)
  .meta({
    description: '32 random bytes in base64 that encrypt secrets at rest; several, separated by commas, rotate.',
  });

const version = 1;
const keyIdBytes = 4;
const ivBytes = 12;
const tagBytes = 16;

/**
 * AES-256-GCM under SECRETS_KEY: one base64 key of 32 bytes, or several separated by commas. The first seals, all
 * open, so a key is rotated by putting the new one in front and sealing stale values again.
 * Layout: version, key id (first bytes of the key's SHA-256), iv, tag, ciphertext.
 */
export function createSecretBox(secretsKey: string): SecretBox {
  const keys = keysOf(secretsKey).map((key) => {
    if (key.length !== keyBytes) throw new Error(`SECRETS_KEY ${form}`);
    return { id: createHash('sha256').update(key).digest().subarray(0, keyIdBytes), key };
  });
  const current = keys[0]!;
  const keyIdOf = (sealed: Buffer) => sealed.subarray(1, 1 + keyIdBytes);
  return {
    seal(plain, context) {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv('aes-256-gcm', current.key, iv).setAAD(Buffer.from(context));
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return Buffer.concat([Buffer.from([version]), current.id, iv, cipher.getAuthTag(), body]);
    },
    open(sealed, context) {
      const found = keys.find(({ id }) => id.equals(keyIdOf(sealed)));
      if (sealed[0] !== version || found === undefined) throw new Error('No key in SECRETS_KEY opens this secret');
      const ivAt = 1 + keyIdBytes;
      const tagAt = ivAt + ivBytes;
      const decipher = createDecipheriv('aes-256-gcm', found.key, sealed.subarray(ivAt, tagAt), {
        authTagLength: tagBytes,
      });
      decipher.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(tagAt, tagAt + tagBytes));
      return Buffer.concat([decipher.update(sealed.subarray(tagAt + tagBytes)), decipher.final()]).toString('utf8');
    },
    isStale: (sealed) => !keyIdOf(sealed).equals(current.id),
  };
}
