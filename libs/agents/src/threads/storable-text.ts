/** Text that PostgreSQL can store: without NUL characters and lone surrogates. */
export const storableText = (text: string): string => text.replaceAll('\u0000', '').toWellFormed();

/**
 * The beginning of a text that has at most `limit` bytes in UTF-8, and the size of the whole text.
 */
export function truncateBytes(text: string, limit: number): { text: string; bytes: number } {
  const bytes = Buffer.byteLength(text);
  if (bytes <= limit) return { text, bytes };
  const encoded = Buffer.from(text.slice(0, limit));
  let end = limit;
  while ((encoded[end]! & 0xc0) === 0x80) end -= 1;
  return { text: encoded.toString('utf8', 0, end), bytes };
}
