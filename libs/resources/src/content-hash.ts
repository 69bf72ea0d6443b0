import { createHash } from 'node:crypto';
import { canonicalJson } from '@parley/contracts';

/** SHA-256 of the canonical text, in hex: equal for equal definitions. */
export const contentHash = (value: unknown): string => createHash('sha256').update(canonicalJson(value)).digest('hex');
