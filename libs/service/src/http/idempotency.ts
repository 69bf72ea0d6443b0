import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ErrorBody } from '@parley/contracts';
import { HttpError, badRequest, conflict } from './errors';
import type { Exchange } from './exchange';
import { RawJson } from './respond';

export interface IdempotentOperation {
  organizationId: string;
  apiKeyId: string;
  /** Method and path. */
  operation: string;
  key: string;
  /** SHA-256 of the body. */
  requestHash: Buffer;
}

export type IdempotencyState =
  /** `id` names the operation: a second try after a crash gets the same. */
  | { state: 'started'; id: string }
  | { state: 'running' }
  | { state: 'done'; status: number; body: string }
  | { state: 'other_request' };

/** Where first answers are kept (libs/db implements it). */
export interface IdempotencyStore {
  /** How often a claim must be renewed, or it counts as left behind by a process that died. */
  renewEveryMs: number;
  /** Claims the key, or says what became of it. A claim that was left behind is taken over. */
  begin(operation: IdempotentOperation): Promise<IdempotencyState>;
  renew(operation: IdempotentOperation): Promise<void>;
  finish(operation: IdempotentOperation, status: number, body: string): Promise<void>;
  /** Gives the claim back, its id kept: the request failed in a way that a retry may mend. */
  abandon(operation: IdempotentOperation): Promise<void>;
}

const waitLimitMs = 120_000;

/**
 * Runs a request once for its `Idempotency-Key`: the first answer is replayed to later ones, a simultaneous one waits
 * for it, the same key with another body is a 409. An answer of 500 and above is not kept, so that a retry can work.
 */
export async function withIdempotency(
  store: IdempotencyStore,
  { key, exchange, body }: { key: string | string[]; exchange: Exchange; body: unknown },
  run: () => Promise<{ status: number; body: unknown }>,
): Promise<{ status: number; body: unknown }> {
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw badRequest('Idempotency-Key must be 1 to 255 visible ASCII characters', undefined, 'invalid_idempotency_key');
  }
  const operation: IdempotentOperation = {
    organizationId: exchange.key.organizationId,
    apiKeyId: exchange.key.id,
    operation: `${exchange.request.method} ${exchange.request.url!.split('?')[0]}`,
    key,
    requestHash: createHash('sha256')
      .update(JSON.stringify(body) ?? '')
      .digest(),
  };
  const deadlineMs = performance.now() + waitLimitMs;
  for (let delayMs = 25; ; delayMs = Math.min(delayMs * 2, 500)) {
    const found = await store.begin(operation);
    if (found.state === 'started') {
      exchange.idempotencyId = found.id;
      break;
    }
    if (found.state === 'other_request') {
      throw conflict('Idempotency-Key was already used with another request body', 'idempotency_key_reused');
    }
    if (found.state === 'done') return replay(found.status, found.body);
    if (performance.now() > deadlineMs || exchange.response.destroyed) {
      throw conflict('The first request with this Idempotency-Key is still running', 'idempotency_in_progress');
    }
    await sleep(delayMs);
  }
  const renewal = setInterval(() => store.renew(operation).catch(() => {}), store.renewEveryMs);
  try {
    const result = await run();
    const text = result.body instanceof RawJson ? result.body.text : JSON.stringify(result.body);
    await store.finish(operation, result.status, text);
    return { status: result.status, body: new RawJson(text) };
  } catch (error) {
    await settle(store, operation, error);
    throw error;
  } finally {
    clearInterval(renewal);
  }
}

function replay(status: number, text: string): { status: number; body: unknown } {
  if (status < 400) return { status, body: new RawJson(text) };
  const { error, code, details } = JSON.parse(text) as ErrorBody;
  throw new HttpError(status, code, error, { details });
}

/** A caller's fault is an answer like any other and is kept; everything else may be tried again. */
async function settle(store: IdempotencyStore, operation: IdempotentOperation, error: unknown): Promise<void> {
  if (!(error instanceof HttpError) || error.status >= 500 || error.status === 429) {
    return store.abandon(operation).catch(() => {});
  }
  const body = { error: error.message, code: error.code, details: error.extra.details };
  await store.finish(operation, error.status, JSON.stringify(body));
}
