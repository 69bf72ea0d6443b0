import type { ReactNode } from 'react';
import { findAddresses } from './web-addresses';

/** A text whose web addresses are links. Everything else is text. */
export function LinkedText({ text }: { text: string }) {
  const parts: ReactNode[] = [];
  let end = 0;
  for (const { index, href } of findAddresses(text)) {
    parts.push(
      text.slice(end, index),
      <a
        key={index}
        href={href}
        target="_blank"
        rel="noopener noreferrer"
        className="text-accent underline"
      >
        {href}
      </a>,
    );
    end = index + href.length;
  }
  return [...parts, text.slice(end)];
}
