import { type Db, createIdempotencyStore } from '@parley/db';

/** Deletes responses that have been stored under an `Idempotency-Key` for more than a day. */
export const createSweepIdempotency =
  ({ db }: { db: Db }) =>
  async (): Promise<void> => {
    await createIdempotencyStore(db).sweep();
  };
