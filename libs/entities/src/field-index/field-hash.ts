import { LRUCache } from 'lru-cache';

/** The field numbers of entries that are not for a path below `data`. */
export const statusField = 1;
export const updatedAtField = 2;
export const shapeField = 3;
const reserved = 16;

const hashes = new LRUCache<string, number>({ max: 20_000, memoMethod: hashOf });

/**
 * The 32-bit number of a path below `data` in the index tables. Two paths of one type may have the
 * same number, so the entities that are found by it are checked against the filter itself.
 */
export const fieldHash = (path: readonly string[]): number => hashes.memo(JSON.stringify(path));

/** The number of the elements of the array at that path. */
export const elementsHash = (path: readonly string[]): number =>
  hashes.memo(`${JSON.stringify(path)}[]`);

function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
    hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  }
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  hash = (hash ^ (hash >>> 16)) | 0;
  if (hash >= 0 && hash < reserved) hash += reserved;
  return hash;
}
