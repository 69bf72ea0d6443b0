const maxWordLength = 60;
const maxWords = 4_000;

/** Letters that no decomposition takes apart, as people write them who lack the key. */
const letters: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ı: 'i',
  ł: 'l',
  þ: 'th',
  ς: 'σ',
};
const letter = new RegExp(`[${Object.keys(letters).join('')}]`, 'g');

/** Runs of letters and digits, and every emoji by itself: skin tones and what joins several into one do not count. */
const word = /[\p{L}\p{N}]+|\p{Regional_Indicator}{2}|\p{Extended_Pictographic}/gu;

/** Words of a text, without case, accents and punctuation. Stored texts and queries go through the same function. */
export function foldedWords(text: string): string[] {
  const folded = text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(letter, (one) => letters[one]!);
  const words = folded.match(word) ?? [];
  return words.slice(0, maxWords).map((one) => one.slice(0, maxWordLength).toWellFormed());
}
