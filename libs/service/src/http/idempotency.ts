import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ErrorBody, canonicalJson, reportRefusal } from '@parley/contracts';
import { createSlots } from '@parley/outbound';
import { HttpError, badRequest, conflict } from './errors';
import type { Exchange } from './exchange';
import type { IdempotencyClaim, IdempotencyStore, IdempotentOperation } from './idempotency-store';
import { RawJson } from './send-json';

const waitLimitMs = 120_000;
const firstDelayMs = 25;
/**
 * Requests of a process that wait for the first one with their key. An organization has
 * a share of them.
 */
const waiting = createSlots({ total: 256 });

/**
 * Runs a request once for each `Idempotency-Key`. Later requests receive the stored answer, a
 * simultaneous request waits for it, and the same key with another body is refused with 409.
 * Answers with status 429 or 500 and above are not stored, so that a retry can succeed
 * (docs/reference/README.md#idempotency-keys).
 */
export async function withIdempotency(
  store: IdempotencyStore,
  { key, exchange, body }: { key: string | string[]; exchange: Exchange; body: unknown },
  run: () => Promise<{ status: number; body: unknown }>,
): Promise<{ status: number; body: unknown }> {
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw badRequest(
      'Idempotency-Key must be 1 to 255 visible ASCII characters',
      undefined,
      'invalid_idempotency_key',
    );
  }
  const operation: IdempotentOperation = {
    tenant: exchange.caller.tenant,
    callerId: exchange.caller.id,
    operation: operationOf(exchange),
    key,
    // The canonical form, because a client may order the keys of an object differently in a retry.
    requestHash: createHash('sha256').update(canonicalJson(body)).digest(),
  };
  const deadlineMs = performance.now() + waitLimitMs;
  for (let delayMs = firstDelayMs; ; delayMs = Math.min(delayMs * 2, 500)) {
    const found = await store.begin(operation);
    if (found.state === 'started') {
      exchange.idempotency = { ...found.claim, isAnswerStored: false };
      break;
    }
    if (found.state === 'other_request') {
      throw conflict(
        'Idempotency-Key was already used with another request body',
        'idempotency_key_reused',
      );
    }
    if (found.state === 'done') {
      // The caller has waited for the first request.
      if (delayMs > firstDelayMs) await exchange.checkAgain();
      return replay(found.status, found.body);
    }
    if (performance.now() > deadlineMs || exchange.response.destroyed) {
      throw stillRunning();
    }
    await waitForFirst(operation.tenant, delayMs);
  }
  const claim = exchange.idempotency!;
  const renewal = setInterval(() => store.renew(claim).catch(() => {}), store.renewEveryMs);
  try {
    const result = await run();
    const text = result.body instanceof RawJson ? result.body.text : JSON.stringify(result.body);
    if (!claim.isAnswerStored) await store.finish(claim, result.status, text);
    return { status: result.status, body: new RawJson(text) };
  } catch (error) {
    await settleFailure(store, claim, error);
    throw error;
  } finally {
    clearInterval(renewal);
  }
}

/**
 * Method, path and, for a person, the environment: a person names one in each request, so the same
 * key in development and in production is two operations. The id of a key implies its environment.
 */
function operationOf({ request, caller }: Exchange): string {
  const operation = `${request.method} ${request.url!.split('?')[0]}`;
  return caller.type === 'person' ? `${caller.environment} ${operation}` : operation;
}

const stillRunning = () =>
  conflict(
    'The first request with this Idempotency-Key is still running',
    'idempotency_in_progress',
  );

/**
 * Waits until the next look for the answer. Throws when too many requests of the organization wait.
 */
async function waitForFirst(tenant: number, delayMs: number): Promise<void> {
  const leave = waiting.tryAcquire(String(tenant));
  if (leave === null) {
    reportRefusal('idempotency_waits');
    throw stillRunning();
  }
  await sleep(delayMs);
  leave();
}

function replay(status: number, text: string): { status: number; body: unknown } {
  if (status < 400) return { status, body: new RawJson(text) };
  const { error, code, details } = JSON.parse(text) as ErrorBody;
  throw new HttpError(status, code, error, { details });
}

/**
 * Stores an error of the 4xx range as the answer. After any other error, and after 429, the
 * request may be retried.
 */
async function settleFailure(
  store: IdempotencyStore,
  claim: IdempotencyClaim,
  error: unknown,
): Promise<void> {
  if (!(error instanceof HttpError) || error.status >= 500 || error.status === 429) {
    // Not awaited: while the store is silent, the answer must not wait for it.
    return void release(store, claim);
  }
  const body = { error: error.message, code: error.code, details: error.extra.details };
  await store.finish(claim, error.status, JSON.stringify(body));
}

/**
 * Releases the key, so that a retry does not wait for the end of its lock. Is repeated while the
 * store is away, as in a failover.
 */
async function release(store: IdempotencyStore, claim: IdempotencyClaim): Promise<void> {
  const endMs = performance.now() + 3 * store.renewEveryMs;
  for (let delayMs = 100; performance.now() < endMs; delayMs *= 2) {
    try {
      return await store.abandon(claim);
    } catch {
      await sleep(delayMs, undefined, { ref: false });
    }
  }
}
