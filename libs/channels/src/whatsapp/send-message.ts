import { type Queryable, type Tenant, column, statement } from '@parley/db';
import type { Accounts } from '../accounts';
import { type KapsoClient, type KapsoFailure, createKapsoClient, kapsoTimeoutMs } from '../kapso/kapso-client';
import { noPlaceWaitMs } from '../no-place-wait';
import { type ClaimedMessage, type SendOutcome } from './outbox';
import { claimMessage, giveUp, leaseSeconds, markSent, noteDoubt, putBack } from './outbox';
import { digitsOf } from './read-inbound';

export interface SendDeps {
  db: Queryable;
  accounts: Accounts;
  /** Of this process, unlike any other's. */
  owner: string;
  log: { warn(fields: Record<string, unknown>, message: string): void };
}

/** A quarter of an hour in all, as for answering: an outage of the provider should not lose replies. */
const mostAttempts = 20;
const longestWaitMs = 60_000;
/** A request that leaves later than this after its claim could end after the claim has. */
const latestStartMs = leaseSeconds * 1_000 - kapsoTimeoutMs - 5_000;
/** Meta's code for a conversation whose 24-hour window is closed. */
const windowClosedCode = '131047';

/**
 * Sends one message of the outbox, at most once (docs/adr/0022): it is marked before the call, and whenever it stays open
 * whether the provider has it, the provider is asked first. Only what is certainly not there is sent again; what nobody
 * can tell ends as `unknown`.
 */
export async function sendMessage(deps: SendDeps, tenant: Tenant, id: string): Promise<SendOutcome> {
  const { db, accounts, owner } = deps;
  const startedAtMs = performance.now();
  const message = await claimMessage(db, { ...tenant, id }, owner);
  if (message === null) return 'not_due';
  const account = await accounts.kapso(message);
  if (account === null)
    return message.before === 'sending'
      ? lookAgain(deps, message, `${notConfigured}${unasked}`)
      : fail(deps, message, notConfigured);
  // The outbox waits, not the job: it would hold its slot of the queue.
  const client = createKapsoClient(account, { placeWaitMs: 0 });
  if (message.before === 'sending') {
    const found = await lookUp(client, deps, message);
    const interrupted = `its sender was interrupted${unasked}`;
    if (found === 'no_place') return noteDoubt(db, message, owner, { error: interrupted, isTried: false });
    if (found === 'cannot_tell') return lookAgain(deps, message, interrupted);
    if (found !== 'absent') return markSent(db, message, found.messageId);
  }
  if (performance.now() - startedAtMs > latestStartMs)
    return putBack(db, message, owner, { error: 'the process was held up', afterMs: 0, isTried: false });
  const answer = await client.sendMessage(message.phoneNumberId, {
    ...message.request,
    biz_opaque_callback_data: message.id,
  });
  if (answer.ok) return markSent(db, message, answer.value);
  if (answer.reason === 'no_place') {
    const afterMs = noPlaceWaitMs(message.ageMs);
    return putBack(db, message, owner, { error: `not asked: ${answer.message}`, afterMs, isTried: false });
  }
  return afterFailure(client, deps, message, answer);
}

async function afterFailure(
  client: KapsoClient,
  deps: SendDeps,
  message: ClaimedMessage,
  failure: Exclude<KapsoFailure, { reason: 'no_place' }>,
): Promise<SendOutcome> {
  const { id, attempts } = message;
  deps.log.warn({ messageId: id, reason: failure.reason, detail: failure.message, attempts }, 'a message was not sent');
  if (failure.reason === 'refused')
    return fail(deps, message, failure.code === windowClosedCode ? windowClosed : failure.message);
  if (failure.reason === 'unsure') {
    await noteDoubt(deps.db, message, deps.owner, { error: failure.message, isTried: true });
    const found = await lookUp(client, deps, message);
    if (found === 'cannot_tell' || found === 'no_place')
      return lookAgain(deps, message, `${failure.message}${unasked}`);
    // It may still be on its way: once the lease is over it is looked for again, and only then sent anew.
    return found === 'absent' ? lookAgain(deps, message, failure.message) : markSent(deps.db, message, found.messageId);
  }
  if (failure.isServerError) {
    const found = await lookUp(client, deps, message);
    // A gateway's 502 or 504 may stand for a request that went through behind it.
    if (found === 'cannot_tell' || found === 'no_place')
      return lookAgain(deps, message, `${failure.message}${unasked}`);
    if (found !== 'absent') return markSent(deps.db, message, found.messageId);
  }
  if (attempts >= mostAttempts) return fail(deps, message, failure.message);
  const waitMs = failure.afterMs ?? Math.min(500 * 2 ** attempts, longestWaitMs);
  const afterMs = Math.min(waitMs, 15 * 60_000);
  return putBack(deps.db, message, deps.owner, { error: failure.message, afterMs, isTried: true });
}

const notConfigured = 'Kapso is not configured: parley integrations set kapso';
const unasked = '; the provider could not be asked whether it has it';

/** What `error` begins with when the window was closed. */
export const windowClosed = 'window_closed: more than 24 hours since the last message of the contact';

const fail = ({ db, owner }: SendDeps, message: ClaimedMessage, error: string): Promise<SendOutcome> =>
  giveUp(db, message, owner, { status: 'failed', error });

/** `no_place`: the provider was not asked, as too many calls of the organization are under way. */
type LookUp = { messageId: string } | 'absent' | 'cannot_tell' | 'no_place';

/** It stays `sending`: once the lease that this claim has begun is over, the provider is asked again, until tries end. */
const lookAgain = ({ db, owner }: SendDeps, message: ClaimedMessage, doubt: string): Promise<SendOutcome> =>
  message.attempts < mostAttempts
    ? noteDoubt(db, message, owner, { error: doubt, isTried: true })
    : giveUp(db, message, owner, { status: 'unknown', error: doubt });

/** Between the provider's clock and PostgreSQL's. */
const clockSkewMs = 15_000;

const knownIds = statement(
  'known-message-ids',
  'select message_id from messages where tenant = $1 and connection_id = $2 and message_id = any($3)',
  { message_id: column.text },
);

/** Asks the provider for what it sent while the message was claimed, and looks for ours among it: by reference, else by recipient and text. */
async function lookUp(client: KapsoClient, { db }: SendDeps, message: ClaimedMessage): Promise<LookUp> {
  const { claimedFrom, claimedUntil } = message;
  const since = new Date(claimedFrom.getTime() - clockSkewMs);
  const listed = await client.listSent(message.phoneNumberId, since, new Date(claimedUntil.getTime() + clockSkewMs));
  if (!listed.ok) return listed.reason === 'no_place' ? 'no_place' : 'cannot_tell';
  const byReference = listed.value.find(({ reference }) => reference === message.id);
  if (byReference !== undefined) return { messageId: byReference.id };
  const recipient = digitsOf(String(message.request.to ?? ''));
  const ids = listed.value.map(({ id }) => id);
  const { rows } = await db.query(message, knownIds, [message.tenant, message.connectionId, ids]);
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
  // Sent to a scoped id, which records need not name: this may be ours or somebody else's.
  return recipient === '' ? 'cannot_tell' : { messageId: alike.id };
}
