import { type Db, type Queryable, createIdempotencyStore } from '@parley/db';
import { type CallerContext, conflict } from '@parley/service';

/**
 * Runs `work`, which returns the body of the response, in a transaction that also stores
 * the response for the request's `Idempotency-Key`, if it has one. A retry then does not
 * repeat the change.
 */
export async function changeOnce(
  db: Pick<Db, 'transaction'>,
  idempotency: CallerContext['idempotency'],
  status: number,
  work: (tx: Queryable) => Promise<string>,
): Promise<string> {
  const text = await db.transaction(async (tx) => {
    const text = await work(tx);
    if (idempotency && !(await createIdempotencyStore(tx).finish(idempotency, status, text))) {
      throw conflict(
        'Another request with this Idempotency-Key has replaced this one',
        'idempotency_in_progress',
      );
    }
    return text;
  });
  if (idempotency) idempotency.isAnswerStored = true;
  return text;
}
