import { type Queryable, type Tenant, column, statement } from '@parley/db';
import type { Accounts } from '../accounts';
import {
  type KapsoClient,
  type KapsoFailure,
  createKapsoClient,
  kapsoTimeoutMs,
} from '../kapso/kapso-client';
import { withUploadedMedia } from '../media/upload-media';
import { noSlotWaitMs } from '../no-slot-wait';
import { type ClaimedMessage, type SendOutcome } from './outbox';
import { claimMessage, giveUp, leaseSeconds, markSent, noteDoubt, putBack } from './outbox';
import { digitsOf } from './read-inbound';

export interface SendDeps {
  db: Queryable;
  accounts: Pick<Accounts, 'kapso'>;
  /** Unique id of this process, for leases. */
  owner: string;
  log: { warn(fields: Record<string, unknown>, message: string): void };
}

/**
 * Attempts over about 15 minutes, like those to answer, so that a short outage of the provider
 * loses no replies.
 */
const maxAttempts = 20;
const longestWaitMs = 60_000;
/** Maximum time from the claim to the request. A later request could end after the lease. */
const latestStartMs = leaseSeconds * 1_000 - kapsoTimeoutMs - 5_000;
/** Meta's code for a conversation whose 24-hour window is closed. */
const windowClosedCode = '131047';

/**
 * Sends one message of the outbox, at most once (docs/adr/0022). It is marked before the call. If
 * the result of an attempt is unknown, the provider's history is searched first, and the message is
 * sent again only if it is certainly not there. If that cannot be determined, it ends as `unknown`.
 */
export async function sendMessage(
  deps: SendDeps,
  tenant: Tenant,
  id: string,
): Promise<SendOutcome> {
  const { db, accounts, owner } = deps;
  const startedAtMs = performance.now();
  const message = await claimMessage(db, { ...tenant, id }, owner);
  if (message === null) return 'not_due';
  const account = await accounts.kapso(message);
  if (account === null)
    return message.previousStatus === 'sending'
      ? leaveInDoubt(deps, message, `${notConfigured}${notChecked}`)
      : fail(deps, message, notConfigured);
  // The message waits in the outbox. A job that waits would occupy a worker of the queue.
  const client = createKapsoClient(account, { slotWaitMs: 0 });
  if (message.previousStatus === 'sending') {
    const found = await lookUp(client, deps, message);
    const interrupted = `its sender was interrupted${notChecked}`;
    if (found === 'no_slot')
      return noteDoubt(db, message, owner, { error: interrupted, isTried: false });
    if (found === 'uncertain') return leaveInDoubt(deps, message, interrupted);
    if (found !== 'absent') return markSent(db, message, found.messageId);
  }
  const request = await withUploadedMedia(db, client, message);
  if (!request.ok) return afterFailedUpload(deps, message, request);
  if (performance.now() - startedAtMs > latestStartMs)
    return putBack(db, message, owner, {
      error: 'the process was delayed',
      afterMs: 0,
      isTried: false,
    });
  const answer = await client.sendMessage(message.phoneNumberId, {
    ...request.value,
    biz_opaque_callback_data: message.id,
  });
  if (answer.ok) return markSent(db, message, answer.value);
  if (answer.reason === 'no_slot') {
    const afterMs = noSlotWaitMs(message.ageMs);
    return putBack(db, message, owner, {
      error: `no request sent: ${answer.message}`,
      afterMs,
      isTried: false,
    });
  }
  return afterFailure(client, deps, message, answer);
}

/** Nothing was sent, whatever happened to the upload. */
function afterFailedUpload(
  deps: SendDeps,
  message: ClaimedMessage,
  failure: KapsoFailure,
): Promise<SendOutcome> {
  const error = `the file was not uploaded: ${failure.message}`;
  if (failure.reason === 'refused' || message.attempts >= maxAttempts)
    return fail(deps, message, error);
  const isTried = failure.reason !== 'no_slot';
  const afterMs = isTried
    ? Math.min(500 * 2 ** message.attempts, longestWaitMs)
    : noSlotWaitMs(message.ageMs);
  return putBack(deps.db, message, deps.owner, { error, afterMs, isTried });
}

async function afterFailure(
  client: KapsoClient,
  deps: SendDeps,
  message: ClaimedMessage,
  failure: Exclude<KapsoFailure, { reason: 'no_slot' }>,
): Promise<SendOutcome> {
  const { id, attempts } = message;
  deps.log.warn(
    { messageId: id, reason: failure.reason, detail: failure.message, attempts },
    'a message was not sent',
  );
  if (failure.reason === 'refused')
    return fail(deps, message, failure.code === windowClosedCode ? windowClosed : failure.message);
  if (failure.reason === 'uncertain') {
    await noteDoubt(deps.db, message, deps.owner, { error: failure.message, isTried: true });
    const found = await lookUp(client, deps, message);
    if (found === 'uncertain' || found === 'no_slot')
      return leaveInDoubt(deps, message, `${failure.message}${notChecked}`);
    // The request may still arrive. After the lease the history is searched again before the
    // message is sent.
    return found === 'absent'
      ? leaveInDoubt(deps, message, failure.message)
      : markSent(deps.db, message, found.messageId);
  }
  if (failure.isServerError) {
    const found = await lookUp(client, deps, message);
    // A 502 or 504 may come from a proxy although Kapso has carried out the request.
    if (found === 'uncertain' || found === 'no_slot')
      return leaveInDoubt(deps, message, `${failure.message}${notChecked}`);
    if (found !== 'absent') return markSent(deps.db, message, found.messageId);
  }
  if (attempts >= maxAttempts) return fail(deps, message, failure.message);
  const waitMs = failure.afterMs ?? Math.min(500 * 2 ** attempts, longestWaitMs);
  const afterMs = Math.min(waitMs, 15 * 60_000);
  return putBack(deps.db, message, deps.owner, { error: failure.message, afterMs, isTried: true });
}

const notConfigured = 'Kapso is not configured: parley integrations set kapso';
const notChecked = '; the provider could not be asked whether it has the message';

/** The `error` of a message that was refused because the 24-hour window is closed. */
export const windowClosed =
  'window_closed: more than 24 hours since the last message of the contact';

const fail = (
  { db, owner }: SendDeps,
  message: ClaimedMessage,
  error: string,
): Promise<SendOutcome> => giveUp(db, message, owner, { status: 'failed', error });

/** `no_slot`: no request was sent, because too many calls of the organization are in progress. */
type LookUp = { messageId: string } | 'absent' | 'uncertain' | 'no_slot';

/**
 * Leaves the message `sending`: after the lease the provider is asked again, until all
 * attempts are used.
 */
const leaveInDoubt = (
  { db, owner }: SendDeps,
  message: ClaimedMessage,
  doubt: string,
): Promise<SendOutcome> =>
  message.attempts < maxAttempts
    ? noteDoubt(db, message, owner, { error: doubt, isTried: true })
    : giveUp(db, message, owner, { status: 'unknown', error: doubt });

/** Maximum difference between the clocks of the provider and of PostgreSQL. */
const clockSkewMs = 15_000;

const knownIds = statement(
  'known-message-ids',
  'select message_id from messages where tenant = $tenant and connection_id = $connectionId and message_id = any($ids)',
  { message_id: column.text },
);

/**
 * Searches the messages that the provider sent during the claims: by reference, else by
 * recipient and text.
 */
async function lookUp(
  client: KapsoClient,
  { db }: SendDeps,
  message: ClaimedMessage,
): Promise<LookUp> {
  const { claimedFrom, claimedUntil } = message;
  const since = new Date(claimedFrom.getTime() - clockSkewMs);
  const listed = await client.listSent(
    message.phoneNumberId,
    since,
    new Date(claimedUntil.getTime() + clockSkewMs),
  );
  if (!listed.ok) return listed.reason === 'no_slot' ? 'no_slot' : 'uncertain';
  const byReference = listed.value.find(({ reference }) => reference === message.id);
  if (byReference !== undefined) return { messageId: byReference.id };
  const recipient = digitsOf(String(message.request.to ?? ''));
  const ids = listed.value.map(({ id }) => id);
  const { rows } = await db.query(message, knownIds, { connectionId: message.connectionId, ids });
  const ours = new Set(rows.map(({ message_id: known }) => known));
  const alike = listed.value.find(
    ({ id, to, type, text, reference }) =>
      reference === null &&
      !ours.has(id) &&
      (recipient === '' || digitsOf(to ?? '') === recipient) &&
      (type ?? message.type) === message.type &&
      (message.text === null || text === message.text),
  );
  if (alike === undefined) return 'absent';
  // A message to a scoped id, which records need not contain: this record may be of
  // another message.
  return recipient === '' ? 'uncertain' : { messageId: alike.id };
}
