import { ParleyApiError } from './error';

export interface ClientOptions {
  /** `sk_dev_…` or `sk_prod_…`: it fixes the environment. */
  apiKey: string;
  /** Of the gateway: `https://parley.example`. */
  baseUrl: string;
  /** Instead of the platform's. */
  fetch?: typeof globalThis.fetch;
  /** How often a call is tried again after 429, 503 or (but for updates) a lost connection; 3 unless told, 0 for never. */
  maxRetries?: number;
  /** Milliseconds for one try, 140,000 unless told: a turn of an agent may take two minutes. */
  timeoutMs?: number;
}

export interface CallOptions {
  signal?: AbortSignal;
  /** Of a POST that makes something: the same key is answered once. One is made when none is given. */
  idempotencyKey?: string;
}

export interface Call extends CallOptions {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Encoded segment by segment. */
  path: string[];
  query?: object;
  body?: object;
  /** Makes something, so that a second try needs a key that says it is one. */
  creates?: boolean;
}

export type Send = <T>(call: Call) => Promise<T>;

/** Longer than that nobody waits for a limit to pass; the interface's windows are a minute. */
const longestWaitMs = 65_000;

export function createSend(options: ClientOptions): Send {
  const { apiKey, maxRetries = 3, timeoutMs = 140_000 } = options;
  const baseUrl = options.baseUrl.replace(/\/+$/, '');
  // Called as a method of anything else, a browser's fetch refuses.
  const fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init));
  return async <T>({ method, path, query, body, creates, signal, idempotencyKey }: Call): Promise<T> => {
    const url = baseUrl + '/v1/' + path.map(encode).join('/') + queryText(query);
    const headers: Record<string, string> = { Authorization: 'Bearer ' + apiKey };
    if (body) headers['Content-Type'] = 'application/json';
    if (creates) headers['Idempotency-Key'] = idempotencyKey ?? randomKey();
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    let mayBeDone = false;
    for (let attempt = 0; ; attempt += 1) {
      const answer = await tryOnce(fetch, url, init, timeoutMs, signal);
      if ('value' in answer) return answer.value as T;
      // Its answer was lost, and what it deleted is gone: a purge may have come between the two tries.
      if (mayBeDone && method === 'DELETE' && isGone(answer.error)) return { success: true } as T;
      mayBeDone ||= !(answer.error instanceof ParleyApiError && answer.error.status === 429);
      const waitMs = answer.retryable ? (answer.retryAfterMs ?? backoffMs(attempt)) : Infinity;
      if (attempt >= maxRetries || waitMs > longestWaitMs) throw answer.error;
      await sleep(waitMs, signal);
    }
  };
}

const isGone = (error: unknown): boolean =>
  error instanceof ParleyApiError && error.status === 404 && /^entity_(not_found|deleted)$/.test(error.code ?? '');

type Answer = { value: unknown } | { error: unknown; retryable: boolean; retryAfterMs?: number };

async function tryOnce(
  fetch: typeof globalThis.fetch,
  url: string,
  init: RequestInit,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const controller = new AbortController();
  const abort = () => controller.abort(signal!.reason);
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort);
  const timer = setTimeout(
    () => controller.abort(new DOMException(`No answer within ${timeoutMs} ms`, 'TimeoutError')),
    timeoutMs,
  );
  try {
    const response = await fetch(url, { ...init, signal: controller.signal });
    const value = parse(await response.text());
    if (response.ok && value !== undefined) return { value };
    const { status, headers } = response;
    return {
      error: new ParleyApiError(status, value, headers.get('X-Request-Id')),
      retryable: status === 429 || status === 503,
      retryAfterMs: retryAfterMs(headers.get('Retry-After')),
    };
  } catch (error) {
    if (controller.signal.aborted) throw controller.signal.reason;
    // The connection was lost, and the call may have been done: those that make something carry a key, a change has none.
    return { error, retryable: init.method !== 'PATCH' };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

function encode(segment: string): string {
  // They would be resolved away, and another path asked.
  if (/^\.{0,2}$/.test(segment)) throw new TypeError(`"${segment}" cannot be a part of a path`);
  return encodeURIComponent(segment);
}

function queryText(query: object = {}): string {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined);
  return pairs.length
    ? '?' + new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, String(value)]))
    : '';
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Seconds or a date (RFC 9110). */
function retryAfterMs(header: string | null): number | undefined {
  if (!header) return undefined;
  const waitMs = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(waitMs) ? undefined : Math.max(waitMs, 0);
}

/** Half a second, doubled each time, somewhere in the upper half: clients that failed together come back apart. */
const backoffMs = (attempt: number): number => Math.min(500 * 2 ** attempt, 8_000) * (0.5 + Math.random() / 2);

/** `crypto.randomUUID` is missing on pages that are not secure. */
const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal!.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}
