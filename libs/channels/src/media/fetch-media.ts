import type { Queryable } from '@parley/db';
import type { GuardedFetch } from '@parley/outbound';
import type { Accounts } from '../accounts';
import type { MessageOfTenant } from '../whatsapp/outbox';
import { claimBlob, maxBlobBytes, noteFetchFailure, storeFetched } from './blobs';
import { readFileType } from './read-file-type';

export interface FetchMediaDeps {
  db: Queryable;
  accounts: Accounts;
  /** A client for untrusted addresses. */
  fetchGuarded: GuardedFetch['fetch'];
  /** Unique id of this process, for leases. */
  owner: string;
  timeoutMs?: number;
}

/** Attempts over about an hour. The provider may offer a file later than its message. */
const maxAttempts = 7;
const firstWaitMs = 5_000;
const defaultTimeoutMs = 60_000;
const repeatable = new Set([404, 408, 409, 425, 429]);

/**
 * Fetches the file of a message once and stores it. The address comes from the delivery, so only
 * the public internet can be reached. Its own bytes decide about its type.
 */
export async function fetchMedia(
  { db, accounts, fetchGuarded, owner, timeoutMs = defaultTimeoutMs }: FetchMediaDeps,
  message: MessageOfTenant,
): Promise<'ready' | 'failed' | 'later' | 'not_due'> {
  const blob = await claimBlob(db, message, owner);
  if (blob === null) return 'not_due';
  const account = await accounts.kapso(blob);
  const answer = await fetchGuarded({
    url: blob.url,
    headers: isMediaOf(account?.apiUrl, blob.url) ? [['X-API-Key', account!.apiKey]] : [],
    timeoutMs,
    maxResponseBytes: maxBlobBytes,
  });
  if (answer.ok && answer.status === 200 && answer.body.length > 0) {
    await storeFetched(db, blob, owner, {
      contentType: readFileType(answer.body).contentType,
      bytes: answer.body,
    });
    return 'ready';
  }
  const isTemporary = answer.ok
    ? answer.status >= 500 || repeatable.has(answer.status)
    : answer.reason === 'timeout' || answer.reason === 'network' || answer.reason === 'aborted';
  const error = answer.ok ? `the server answers ${answer.status}` : answer.message;
  const afterMs =
    isTemporary && blob.attempts < maxAttempts ? firstWaitMs * 3 ** (blob.attempts - 1) : null;
  await noteFetchFailure(db, blob, owner, { error, afterMs });
  return afterMs === null ? 'failed' : 'later';
}

/**
 * Files at the provider's own API need the key. Not other paths there: an address of a
 * delivery may be forged.
 */
function isMediaOf(apiUrl: string | undefined, url: string): boolean {
  const [api, file] = [URL.parse(apiUrl ?? ''), URL.parse(url)];
  return api !== null && api.origin === file?.origin && file.pathname.startsWith('/media/');
}
