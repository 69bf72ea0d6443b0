import type { Json, JsonObject } from '@parley/contracts';
import { foldedWords } from './fold-text';

const weights = ['A', 'B', 'C', 'D'];
/** PostgreSQL keeps so many positions of a word, and no position above. */
const maxPositionsPerWord = 20;
const maxPosition = 16_000;

/**
 * The text of an entity's `tsvector`: every word of its search fields with the number of its part in front, so that the
 * index holds one tenant's words apart from another's. The first field weighs most. Null when there are no words.
 */
export function searchVector(part: number, data: JsonObject, searchFields: readonly string[]): string | null {
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
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, key)) return '';
    value = value[key];
  }
  return plainText(value ?? null);
}

const plainText = (value: Json): string => {
  if (Array.isArray(value)) return value.map(plainText).join(' ');
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
};

/** Stands in a query's words for the number of the part, which only the statement knows. */
export const partMark = '~';

export interface SearchQuery {
  /** All words, the last as the beginning of one. */
  matches: string;
  /** All words as they are: what ranks first. */
  exact: string;
}

/** A person's query as `tsquery` texts; null when it holds no word. */
export function searchQuery(query: string): SearchQuery | null {
  const words = [...foldedWords(query)].slice(0, 32).map((word) => `'${partMark}:${word}'`);
  if (words.length === 0) return null;
  const exact = words.join(' & ');
  return { matches: `${exact}:*`, exact };
}
