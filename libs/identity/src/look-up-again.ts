import type { Caller, SignedIn } from '@parley/contracts';
import { type Db, batchCalls } from '@parley/db';
import { findCallers } from './api-keys';
import { type Credentials, tokenOf } from './identify';
import { type AskedSession, findSignedIn } from './sessions';

/** Callers of a statement. */
const largest = 1_000;

/**
 * Looks up callers of open answers, who were found before. Nothing is cached; the look-ups of one
 * turn of the event loop share a statement, one for keys and one for sessions, so that a thousand
 * streams are checked every second.
 */
export function createLookUpAgain(db: Db) {
  const findCaller = batchCalls((tokens: readonly string[]) => findCallers(db, tokens), {
    lanes: 1,
    largest,
  });
  const find = batchCalls((asked: readonly AskedSession[]) => findSignedIn(db, asked), {
    lanes: 1,
    largest,
  });
  return {
    async identify(request: Credentials): Promise<Caller | null> {
      const token = tokenOf(request);
      return token ? findCaller(token) : null;
    },
    findSession: (token: string, organizationId: string | undefined): Promise<SignedIn | null> =>
      find({ token, organizationId }),
  };
}
