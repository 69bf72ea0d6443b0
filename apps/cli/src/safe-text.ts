/** Control characters, and what changes the direction or the lines of the text around it. */
const unsafe = /(?![\n\t])[\p{Cc}\u061c\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Text that others have written, fit for a terminal: whatever could move the cursor, change colours, type or hide
 * something is shown as `\u001b`. Lines and tabs stay, and JSON stays the same JSON.
 */
export const safeText = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .replace(unsafe, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** The same in one line. */
export const safeLine = (text: string): string => safeText(text.replace(/\s+/g, ' ').trim());

/** At most `length` characters, with a mark when there are more; never half of a surrogate pair. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const end = /[\ud800-\udbff]/.test(text[length - 1]!) ? length - 1 : length;
  return `${text.slice(0, end)}… [${text.length - end} more characters]`;
}

/** A beginning of the text, in one line, for a column of a list. */
export const previewOf = (text: string, length: number): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  if (line.length <= length) return line;
  return `${line.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '')}…`;
};
