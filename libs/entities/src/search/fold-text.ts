// Documented limits of the index of a search field (docs/reference/limits.md).
const maxWordChars = 60;
const maxWords = 4_000;

/** Letters that Unicode normalization does not decompose, with their usual replacements. */
const replacements = 'ß:ss æ:ae œ:oe ø:o đ:d ð:d ħ:h ı:i ł:l þ:th ς:σ'.split(' ');
const letters = new Map(replacements.map((pair) => pair.split(':') as [string, string]));
const letter = new RegExp(`[${[...letters.keys()].join('')}]`, 'g');

/** A run of letters and digits, or a single emoji. Skin tones and joiners of emoji are ignored. */
const word = /[\p{L}\p{N}]+|\p{Regional_Indicator}{2}|\p{Extended_Pictographic}/gu;

/**
 * Returns the words of a text in lower case, without accents and punctuation. Applies to stored
 * texts and search queries.
 */
export function foldedWords(text: string): string[] {
  const folded = text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(letter, (found) => letters.get(found)!);
  const words = folded.match(word) ?? [];
  return words.slice(0, maxWords).map((found) => found.slice(0, maxWordChars).toWellFormed());
}
