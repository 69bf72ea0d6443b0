import { reportRefusal } from '@parley/contracts';
import type { Db } from '@parley/db';
import { type Payments, findKnownTokens } from '@parley/payments';
import type { JobContext, Queues } from '@parley/redis';
import { createInbox, paymentCallback } from '@parley/webhooks';
import { outcomeOf } from './confirm-payment';

const limit = 10_000;
/** A payment that has not been committed when its callback arrives has this time to appear. */
const lookForSeconds = 5;
/** A token that has not been searched by then is dropped. */
const dropAfterSeconds = 60;

/**
 * Processes the tokens of callbacks that webhook-ingest answered without a row: it could not look
 * them up, or no payment had them. Those that a payment has by now become deliveries. A few others
 * are searched at the accounts, once each, and stored with the result; the rest is dropped.
 * Reconciliation finds a payment whose token was dropped.
 */
export function createSweepHeldTokens({
  db,
  queues,
  payments,
}: {
  db: Db;
  queues: Queues;
  payments: Payments;
}) {
  const { heldTokens } = queues;
  const inbox = createInbox(db);

  /** Stores a delivery for each token. */
  async function storeKnown(tokens: string[], requestId: string | undefined): Promise<void> {
    const stored = await Promise.all(tokens.map((token) => inbox.store(paymentCallback(token))));
    await heldTokens.remove(tokens);
    const jobs = stored.map(({ id }) => ({ payload: { deliveries: [{ id }] }, requestId }));
    // A job that is lost here is sent by sweep-deliveries.
    if (jobs.length > 0) await queues.enqueueAll('confirm-payment', jobs).catch(() => {});
  }

  /** Searches a token and stores the result; false when it may not be searched now. */
  async function search(token: string): Promise<boolean> {
    const result = await payments.searchToken(token);
    if (!result.ok && result.reason === 'refused') return false;
    const { tenant = null, environment = null } = result.scope ?? {};
    const { status, reason = null } = outcomeOf(result);
    await inbox.store({ ...paymentCallback(token), tenant, environment, status, reason });
    return true;
  }

  return async (_payload: object, { requestId, signal }: JobContext): Promise<void> => {
    const held = await heldTokens.oldest(limit);
    if (held.length === 0) return;
    const tokens = held.map(({ token }) => token);
    const known = await findKnownTokens(db, tokens);
    await storeKnown([...known], requestId);
    // A slow search must not delay tokens that are known by then: the next sweep continues.
    const untilMs = performance.now() + 2_000;
    const failures: unknown[] = [];
    const searchNow = (token: string) =>
      search(token).catch((error: unknown) => {
        failures.push(error);
        return false;
      });
    for (const { token, heldSeconds } of held) {
      if (known.has(token) || heldSeconds < lookForSeconds) continue;
      if (signal.aborted) return;
      const isSearched = performance.now() < untilMs && (await searchNow(token));
      if (isSearched || heldSeconds >= dropAfterSeconds) await heldTokens.remove([token]);
      if (!isSearched && heldSeconds >= dropAfterSeconds) reportRefusal('unknown_payment_tokens');
    }
    if (failures.length > 0) throw failures[0];
  };
}
