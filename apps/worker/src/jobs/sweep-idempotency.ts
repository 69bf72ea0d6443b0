import { type Db, createIdempotencyStore } from '@parley/db';

/** Removes answers that were kept under an `Idempotency-Key` for longer than a day. */
export const createSweepIdempotency =
  ({ db }: { db: Db }) =>
  async (): Promise<void> => {
    await createIdempotencyStore(db).sweep();
  };
