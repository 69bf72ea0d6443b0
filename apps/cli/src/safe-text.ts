/**
 * Control characters, and characters that change the direction or the line breaks of the
 * text around them.
 */
const unsafe = /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** The colours of this program and their ends, of which none hides text. */
const colour = /(\u001b\[(?:[0-4]|2[2-4]|3[0-79]|9[0-7])m)/;

/**
 * Makes untrusted text safe to print on a terminal: characters that could move the cursor, change
 * colours or hide text are printed as escapes such as `\u001b`. Newlines and tabs are kept, and
 * JSON keeps its meaning.
 */
export const safeText = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .replace(unsafe, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

/**
 * The same for a whole output, whose colours are kept. What is left in it that is untrusted may
 * then be coloured, and nothing else.
 */
export const safeOutput = (text: string): string =>
  text
    .split(colour)
    .map((part, at) => (at % 2 === 1 ? part : safeText(part)))
    .join('');

/** Like safeText, on one line. */
export const safeLine = (text: string): string => safeText(text.replace(/\s+/g, ' ').trim());

/**
 * Cuts a text to `length` characters and notes how many follow. Does not split a surrogate pair.
 */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const end = /[\ud800-\udbff]/.test(text[length - 1]!) ? length - 1 : length;
  return `${text.slice(0, end)}… [${text.length - end} more characters]`;
}

/** The beginning of a text on one line, for a column of a table. */
export const previewOf = (text: string, length: number): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  if (line.length <= length) return line;
  return `${line.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '')}…`;
};
