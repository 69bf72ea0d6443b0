const maxWordLength = 60;
const maxWords = 4_000;

/** Words of a text, without case, accents and punctuation. Stored texts and queries go through the same function. */
export function foldedWords(text: string): string[] {
  const folded = text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase();
  const words = folded.match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.slice(0, maxWords).map((word) => word.slice(0, maxWordLength).toWellFormed());
}
