import type { Json, JsonObject } from '@parley/contracts';
import { foldedWords } from './fold-text';

const weights = ['A', 'B', 'C', 'D'];
/** Positions per word, and the greatest position. PostgreSQL's own limits are 256 and 16,383. */
const maxPositionsPerWord = 20;
const maxPosition = 16_000;

/**
 * The text of an entity's `tsvector`: the words of its search fields, each prefixed with the number
 * of the entity's part, so that a search reads only index entries of its own type. The first field
 * has the highest weight. Null without words.
 */
export function searchVector(
  part: number,
  data: JsonObject,
  searchFields: readonly string[],
): string | null {
  const positions = new Map<string, string[]>();
  let position = 0;
  searchFields.forEach((field, index) => {
    const weight = weights[Math.min(index, weights.length - 1)]!;
    for (const word of foldedWords(textAt(data, field))) {
      position = Math.min(position + 1, maxPosition);
      const found = positions.get(word) ?? [];
      if (found.length < maxPositionsPerWord) found.push(`${position}${weight}`);
      positions.set(word, found);
    }
  });
  if (positions.size === 0) return null;
  return [...positions].map(([word, found]) => `'${part}:${word}':${found.join(',')}`).join(' ');
}

function textAt(data: JsonObject, field: string): string {
  let value: Json | undefined = data;
  for (const key of field.replace(/^data\./, '').split('.')) {
    if (
      typeof value !== 'object' ||
      value === null ||
      Array.isArray(value) ||
      !Object.hasOwn(value, key)
    )
      return '';
    value = value[key];
  }
  return plainText(value ?? null);
}

const plainText = (value: Json): string => {
  if (Array.isArray(value)) return value.map(plainText).join(' ');
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
};

/**
 * Placeholder for the number of the part in the words of a search, which the statement replaces.
 */
export const partPlaceholder = '~';

export interface SearchQuery {
  /** All words, the last one as a prefix. */
  matches: string;
  /** All words exactly. These matches rank first. */
  exact: string;
}

/** A search query as `tsquery` texts, at most 32 words. Null without words. */
export function searchQuery(query: string): SearchQuery | null {
  const words = [...foldedWords(query)].slice(0, 32).map((word) => `'${partPlaceholder}:${word}'`);
  if (words.length === 0) return null;
  const exact = words.join(' & ');
  return { matches: `${exact}:*`, exact };
}
