import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { unauthorized } from '@parley/service';

/** Refuses whoever does not show the token; the time it takes says nothing about how much of it was right. */
export function requireToken(token: string): (request: IncomingMessage) => void {
  const expected = digest(token);
  return (request) => {
    const shown = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
    if (!timingSafeEqual(digest(shown), expected)) throw unauthorized();
  };
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
