import type { Queryable } from '@parley/db';
import { type Thread, readThread } from '@parley/agents';
import { Failure } from '../failure';
import type { NamedScope } from '../scope';

/** Reads a thread by its id or external id. Throws a Failure when the scope has no such thread. */
export async function requireThread(db: Queryable, scope: NamedScope, idOrExternalId: string): Promise<Thread> {
  const thread = await readThread(db, scope, idOrExternalId);
  if (thread === null) throw new Failure(`No thread "${idOrExternalId}" in ${scope.name}`);
  return thread;
}
