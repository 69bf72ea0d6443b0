import type { Json } from '@parley/contracts';
import { type Dispatcher, request } from 'undici';
import { decodeBody } from './guarded-fetch/decode-body';
import { readRetryAfter } from './retry-after';
import { takePlace } from './take-place';
import { untilAborted } from './until-aborted';

export interface HttpCall {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  url: string;
  headers?: Record<string, string>;
  /** Sent as JSON, `URLSearchParams` as a form. */
  body?: unknown;
  /** Of the whole call: the wait for a place, the connection, the answer and its body. */
  timeoutMs: number;
  /** Of the answer's body, after decompression too; 5 MiB when absent. A longer one would only fill the memory. */
  maxAnswerBytes?: number;
  signal?: AbortSignal;
  /** Limits the calls that this organization makes to this host at once. Absent: no limit. */
  organizationId?: string;
  /** How long to wait for a place among these calls at most; 0 for callers that hold a slot of a queue. Absent: `timeoutMs`. */
  placeWaitMs?: number;
  /** A pool of connections of its own. Absent: the pool of the process. */
  dispatcher?: Dispatcher;
}

/**
 * How one call ended. Whether an answer is a refusal depends on the provider's statuses, so its client decides that.
 * `not_sent`: the other side has certainly not received the request, so another try is safe. `unknown`: it may have acted
 * on the request.
 */
export type HttpOutcome =
  /** `body` is null when it is not JSON. */
  | { kind: 'answered'; status: number; body: Json; retryAfterMs: number | null }
  | { kind: 'not_sent'; reason: 'no_connection'; code: string; message: string }
  | { kind: 'not_sent'; reason: 'no_place'; message: string }
  | { kind: 'unknown'; reason: 'timeout' | 'aborted'; message: string }
  /** `code` is empty when the error has none. */
  | { kind: 'unknown'; reason: 'broken'; code: string; message: string }
  | { kind: 'unknown'; reason: 'too_long'; status: number; message: string };

/** Errors before a connection exists. `ETIMEDOUT` and `ECONNRESET` are not among them: they also end open connections. */
const noConnectionCodes = new Set(
  'ECONNREFUSED ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH EHOSTDOWN ENETDOWN UND_ERR_CONNECT_TIMEOUT'.split(' '),
);

/** Under both names, since providers use either. A redirect would carry the key to an address that nobody has configured. */
const redirected = 'the address answers with a redirect, which is not followed';

/** Makes one exchange of JSON. It is never repeated here: whether that is safe depends on the request. Never throws. */
export async function callHttp(call: HttpCall): Promise<HttpOutcome> {
  const { url, timeoutMs, organizationId, placeWaitMs = timeoutMs } = call;
  const limit = AbortSignal.timeout(timeoutMs);
  const signal = call.signal ? AbortSignal.any([limit, call.signal]) : limit;
  let leave: (() => void) | null = null;
  try {
    if (organizationId !== undefined) {
      // Not `URL.parse`: the CLI runs on Node 20 too, which does not have it.
      const { host } = new URL(url);
      leave = await takePlace(`${organizationId} ${host}`, signal, placeWaitMs);
      if (leave === null)
        return { kind: 'not_sent', reason: 'no_place', message: `too many calls to ${host} are waiting for an answer` };
    }
    return await exchange(call, signal);
  } catch (error) {
    const { code = '', message } = (error ?? {}) as { code?: string; message?: string };
    if (noConnectionCodes.has(code))
      return { kind: 'not_sent', reason: 'no_connection', code, message: `cannot connect (${code})` };
    if (limit.aborted) return { kind: 'unknown', reason: 'timeout', message: `no answer within ${timeoutMs} ms` };
    if (signal.aborted) return { kind: 'unknown', reason: 'aborted', message: 'the call was given up' };
    return { kind: 'unknown', reason: 'broken', code, message: `the connection broke (${code || message})` };
  } finally {
    leave?.();
  }
}

async function exchange(
  { method, url, headers, body, maxAnswerBytes = 5 * 1_048_576, dispatcher }: HttpCall,
  signal: AbortSignal,
): Promise<HttpOutcome> {
  const isForm = body instanceof URLSearchParams;
  const type = isForm ? 'application/x-www-form-urlencoded;charset=UTF-8' : 'application/json';
  // undici looks at the signal only once it has a connection.
  const answer = await untilAborted(
    request(url, {
      method,
      headers: {
        accept: '*/*',
        'accept-encoding': 'gzip, deflate, br',
        'user-agent': 'parley',
        ...(body !== undefined && { 'content-type': type }),
        ...headers,
      },
      body: body === undefined ? null : isForm ? body.toString() : JSON.stringify(body),
      headersTimeout: 0,
      bodyTimeout: 0,
      signal,
      dispatcher,
    }),
    signal,
  );
  const status = answer.statusCode;
  const read = await decodeBody(answer, maxAnswerBytes);
  if (!read.ok && read.reason !== 'too_large') throw new Error(read.message);
  const message = `the answer is longer than ${maxAnswerBytes} bytes`;
  if (!read.ok) return { kind: 'unknown', reason: 'too_long', status, message };
  return {
    kind: 'answered',
    status,
    body: status >= 300 && status < 400 ? { message: redirected, error: redirected } : parse(read.body),
    retryAfterMs: readRetryAfter(answer.headers['retry-after']),
  };
}

function parse(body: Buffer): Json {
  try {
    return JSON.parse(body.toString('utf8')) as Json;
  } catch {
    return null;
  }
}
