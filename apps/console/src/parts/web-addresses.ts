const address = /https?:\/\/[^\s<>"'`]+/gi;

export interface FoundAddress {
  /** Where it begins in the text. */
  index: number;
  href: string;
}

/** The web addresses of a text, in order. Takes a time proportional to the length of the text. */
export function findAddresses(text: string): FoundAddress[] {
  return [...text.matchAll(address)]
    .map(({ 0: found, index }) => ({ index, href: withoutPunctuation(found) }))
    .filter(({ href }) => isWebAddress(href));
}

/**
 * The end of a sentence is not part of the address; a closing parenthesis is one if the address
 * has an opening one.
 */
function withoutPunctuation(found: string): string {
  const ending = /[([{]/.test(found) ? '.,;:!?*_~' : '.,;:!?*_~)]}';
  let end = found.length;
  while (end > 0 && ending.includes(found[end - 1]!)) end -= 1;
  return found.slice(0, end);
}

function isWebAddress(href: string): boolean {
  try {
    const { protocol, hostname } = new URL(href);
    return (protocol === 'https:' || protocol === 'http:') && hostname !== '';
  } catch {
    return false;
  }
}
