/** Meta's limit for a text message, in characters. */
const maxTextLength = 4_096;

/**
 * Splits a reply into messages of at most `limit` characters, preferably after a paragraph, line,
 * sentence or word.
 */
export function splitText(text: string, limit = maxTextLength): string[] {
  const pieces: string[] = [];
  let rest = text.trim();
  while (rest.length > limit) {
    const at = cutOf(rest, limit);
    pieces.push(rest.slice(0, at).trimEnd());
    rest = rest.slice(at).trimStart();
  }
  if (rest !== '') pieces.push(rest);
  return pieces;
}

function cutOf(text: string, limit: number): number {
  const head = text.slice(0, limit);
  for (const mark of ['\n\n', '\n', '. ', ' ']) {
    const at = head.lastIndexOf(mark);
    if (at > limit / 2) return at + mark.trimEnd().length || at;
  }
  // Do not split a surrogate pair.
  return /[\uD800-\uDBFF]$/.test(head) ? limit - 1 : limit;
}
