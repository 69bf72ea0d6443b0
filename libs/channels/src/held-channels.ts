import { droppedReason, heldWork, leaseSql } from '@parley/db';

/**
 * Outgoing messages. A released one is in doubt, whatever it was: the provider is asked for it from
 * the time that it was queued, and it is sent only if it is not there (docs/adr/0022).
 */
const messages = heldWork({
  kind: 'messages',
  table: 'messages',
  isOpen: `direction = 'outbound' and status in ('queued', 'sending')`,
  isHeld: `direction = 'outbound' and status = 'held'`,
  hold: `status = 'held', lease_owner = null, updated_at = now()`,
  release: `status = 'sending', sent_at = coalesce(sent_at, created_at), attempts = 0, lease_owner = null, lease_until = now(),
    updated_at = now()`,
  drop: `status = 'unknown', error = ${droppedReason}, ${leaseSql.release}, updated_at = now()`,
});

/** Messages of contacts that were not answered yet. */
const answers = heldWork({
  kind: 'answers',
  table: 'messages',
  isOpen: `direction = 'inbound' and status in ('received', 'answering')`,
  isHeld: `direction = 'inbound' and status = 'held'`,
  hold: `status = 'held', ${leaseSql.release}, updated_at = now()`,
  release: `status = 'received', updated_at = now()`,
  drop: `status = 'failed', error = ${droppedReason}, updated_at = now()`,
});

/** A released e-mail is sent with its idempotency key, which the provider knows for a day. */
const emails = heldWork({
  kind: 'emails',
  table: 'emails',
  isOpen: `status in ('queued', 'sending')`,
  isHeld: `status = 'held'`,
  hold: `status = 'held', ${leaseSql.release}, updated_at = now()`,
  release: `status = 'queued', updated_at = now()`,
  drop: `status = 'unknown', error = ${droppedReason}, updated_at = now()`,
});

export const heldChannels = [messages, answers, emails];
