import type { ReactNode } from 'react';

const address = /https?:\/\/[^\s<>"'`]+/gi;

/** A text whose web addresses are links. Everything else is text. */
export function LinkedText({ text }: { text: string }) {
  const parts: ReactNode[] = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(address)) {
    const href = withoutPunctuation(found);
    if (!isWebAddress(href)) continue;
    parts.push(
      text.slice(end, index),
      <a key={index} href={href} target="_blank" rel="noopener noreferrer" className="text-accent underline">
        {href}
      </a>,
    );
    end = index + href.length;
  }
  return [...parts, text.slice(end)];
}

/** The end of a sentence is not part of the address; a closing parenthesis is one if the address has the opening one. */
function withoutPunctuation(found: string): string {
  let href = found.replace(/[.,;:!?*_~]+$/, '');
  while (/[)\]}]$/.test(href) && !/[([{]/.test(href)) href = href.slice(0, -1).replace(/[.,;:!?*_~]+$/, '');
  return href;
}

function isWebAddress(href: string): boolean {
  try {
    const { protocol, hostname } = new URL(href);
    return (protocol === 'https:' || protocol === 'http:') && hostname !== '';
  } catch {
    return false;
  }
}
