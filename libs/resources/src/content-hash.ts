import { createHash } from 'node:crypto';
import { canonicalJson } from '@parley/contracts';

/** SHA-256 of the canonical JSON text, in hexadecimal. Equal definitions have the same hash. */
export const contentHash = (value: unknown): string =>
  createHash('sha256').update(canonicalJson(value)).digest('hex');
