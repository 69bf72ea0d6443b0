import type { Db } from '@parley/db';
import { pullResources } from '@parley/resources';
import type { Handler } from '@parley/service';

/** `POST /v1/sync/pull`: every definition of the environment as it was pushed. */
export const syncPull =
  ({ db }: { db: Db }): Handler<'syncPull'> =>
  (_input, { scope }) =>
    pullResources(db, scope);
