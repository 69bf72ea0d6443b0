import { createHash, timingSafeEqual } from 'node:crypto';
import { type Exchange, unauthorized } from '@parley/service';

/**
 * Refuses requests without the token. The comparison takes the same time however much of a wrong
 * token is correct.
 */
export function requireToken(token: string): (exchange: Pick<Exchange, 'request'>) => void {
  const expected = digest(token);
  return ({ request }) => {
    const given = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
    if (!timingSafeEqual(digest(given), expected)) throw unauthorized();
  };
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
