import type { Db } from '@parley/db';
import { resourceState } from '@parley/resources';
import type { Handler } from '@parley/service';

/** `POST /v1/sync/state`: slugs, names, versions and content hashes of the environment's definitions. */
export const syncState =
  ({ db }: { db: Db }): Handler<'syncState'> =>
  (_input, { scope }) =>
    resourceState(db, scope);
