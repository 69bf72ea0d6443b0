/** Meta's limit of a text message, in characters. */
const longestText = 4_096;

/** A reply in pieces that the channel takes, cut at the ends of paragraphs, lines, sentences or words where there are any. */
export function splitText(text: string, limit = longestText): string[] {
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
  // Never between the halves of one character.
  return /[\uD800-\uDBFF]$/.test(head) ? limit - 1 : limit;
}
