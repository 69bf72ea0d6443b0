import type { Json } from '@parley/contracts';
import { type Dispatcher, FormData, request } from 'undici';
import { type GuardedFetch, refusedCode } from './guarded-fetch/create-guarded-fetch';
import { decodeBody } from './guarded-fetch/decode-body';
import { readRetryAfter } from './retry-after';
import { rejectOnAbort } from './reject-on-abort';
import { createSlots } from './slots';

export interface HttpFile {
  bytes: Buffer;
  contentType: string;
  filename: string;
}

export interface HttpCall {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  url: string;
  headers?: Record<string, string>;
  /** Sent as JSON; `URLSearchParams` are sent as a form. */
  body?: unknown;
  /** Sent as a form together with `body`, an object of texts. */
  file?: HttpFile;
  /**
   * Time limit of the whole call: the wait for a slot, the connection, and the
   * answer with its body.
   */
  timeoutMs: number;
  /**
   * Maximum size of the answer's body before and after decompression, to bound
   * memory. Default: 5 MiB.
   */
  maxAnswerBytes?: number;
  signal?: AbortSignal;
  /** Limits the concurrent calls of this organization to the host. Without it there is no limit. */
  organizationId?: string;
  /**
   * Maximum wait for a slot among these calls; 0 for jobs, which would occupy their queue.
   * Default: `timeoutMs`.
   */
  slotWaitMs?: number;
  /** Default: the connection pool of the process. */
  dispatcher?: Dispatcher;
  /** Refuses addresses that are not public; for addresses that users give. */
  guard?: AddressGuard;
}

/** See `createGuardedFetch`. */
export type AddressGuard = Pick<GuardedFetch, 'connectionsFor'>;

/**
 * The outcome of a call. `answered`: with any status; the client of the provider decides which
 * statuses are refusals. `not_sent`: the server has not received the request, so a retry is safe.
 * `unknown`: the request may have had an effect.
 */
export type HttpOutcome =
  /** `body` is null when it is not JSON. */
  | { kind: 'answered'; status: number; body: Json; retryAfterMs: number | null }
  | { kind: 'not_sent'; reason: 'no_connection'; code: string; message: string }
  | { kind: 'not_sent'; reason: 'no_slot'; message: string }
  | { kind: 'unknown'; reason: 'timeout' | 'aborted'; message: string }
  /** `code` is empty when the error has none. */
  | { kind: 'unknown'; reason: 'broken'; code: string; message: string }
  | { kind: 'unknown'; reason: 'too_long'; status: number; message: string };

/**
 * Errors before a connection exists. `ETIMEDOUT` and `ECONNRESET` are excluded, because they also
 * end open connections.
 */
const noConnectionCodes = new Set(
  'ECONNREFUSED ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH EHOSTDOWN ENETDOWN UND_ERR_CONNECT_TIMEOUT'.split(
    ' ',
  ),
);

/**
 * Calls of one organization to one host, per process. Fewer than the concurrency of the jobs that
 * send (`send-message` 10, `send-email` 5), so that a host that hangs for one organization does not
 * block the others.
 */
const organizationSlots = createSlots({ perKey: 4 });

/**
 * Redirects are not followed, because the API key would be sent to an address that
 * is not configured.
 */
const redirected = 'the address answers with a redirect, which is not followed';

/**
 * Sends one request and parses the JSON answer. Never throws. Does not retry, which may be unsafe.
 */
export async function callHttp(call: HttpCall): Promise<HttpOutcome> {
  const { url, timeoutMs, organizationId, slotWaitMs = timeoutMs } = call;
  const limit = AbortSignal.timeout(timeoutMs);
  const signal = call.signal ? AbortSignal.any([limit, call.signal]) : limit;
  let release: (() => void) | null = null;
  try {
    if (organizationId !== undefined) {
      // Not `URL.parse`: the CLI supports Node 20, which does not have it.
      const { host } = new URL(url);
      release = await organizationSlots.acquire(`${organizationId} ${host}`, signal, slotWaitMs);
      if (release === null)
        return {
          kind: 'not_sent',
          reason: 'no_slot',
          message: `too many calls to ${host} are waiting for an answer`,
        };
    }
    const guarded = call.guard?.connectionsFor(url);
    if (guarded?.ok === false) return refused(guarded.message);
    return await send({ ...call, dispatcher: guarded?.dispatcher ?? call.dispatcher }, signal);
  } catch (error) {
    const { code = '', message } = (error ?? {}) as { code?: string; message?: string };
    if (code === refusedCode) return refused(String(message));
    if (noConnectionCodes.has(code))
      return {
        kind: 'not_sent',
        reason: 'no_connection',
        code,
        message: `cannot connect (${code})`,
      };
    if (limit.aborted)
      return { kind: 'unknown', reason: 'timeout', message: `no answer within ${timeoutMs} ms` };
    if (signal.aborted)
      return { kind: 'unknown', reason: 'aborted', message: 'the call was aborted' };
    return {
      kind: 'unknown',
      reason: 'broken',
      code,
      message: `the connection broke (${code || message})`,
    };
  } finally {
    release?.();
  }
}

const refused = (message: string): HttpOutcome => ({
  kind: 'not_sent',
  reason: 'no_connection',
  code: refusedCode,
  message,
});

async function send(
  { method, url, headers, body, file, maxAnswerBytes = 5 * 1_048_576, dispatcher }: HttpCall,
  signal: AbortSignal,
): Promise<HttpOutcome> {
  const isForm = body instanceof URLSearchParams;
  const type = isForm ? 'application/x-www-form-urlencoded;charset=UTF-8' : 'application/json';
  // undici observes the signal only after it has a connection.
  const answer = await rejectOnAbort(
    request(url, {
      method,
      headers: {
        accept: '*/*',
        'accept-encoding': 'gzip, deflate, br',
        'user-agent': 'parley',
        ...(body !== undefined && file === undefined && { 'content-type': type }),
        ...headers,
      },
      body: file
        ? formOf(body, file)
        : body === undefined
          ? null
          : isForm
            ? body.toString()
            : JSON.stringify(body),
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
    // Providers use one of these two names for the text of an error.
    body:
      status >= 300 && status < 400 ? { message: redirected, error: redirected } : parse(read.body),
    retryAfterMs: readRetryAfter(answer.headers['retry-after']),
  };
}

function formOf(fields: unknown, { bytes, contentType, filename }: HttpFile): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields as Record<string, string>))
    form.set(name, value);
  form.set('file', new Blob([new Uint8Array(bytes)], { type: contentType }), filename);
  return form;
}

function parse(body: Buffer): Json {
  try {
    return JSON.parse(body.toString('utf8')) as Json;
  } catch {
    return null;
  }
}
