import type { Json } from '@parley/contracts';

export interface HttpCall {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  url: string;
  headers: Record<string, string>;
  body?: unknown;
  timeoutMs: number;
}

/**
 * What came of one call to a provider. `not_sent`: it has not seen the request, so doing it again is safe. `no_answer`: it
 * may have acted on it.
 */
export type HttpOutcome =
  | { kind: 'answer'; status: number; body: Json; retryAfterMs: number | null }
  | { kind: 'not_sent'; message: string }
  | { kind: 'no_answer'; message: string };

/** Errors of a connection that was never made. */
const neverConnected = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** More than any answer that is asked for here; what is longer would only fill the memory. */
const maxAnswerBytes = 5 * 1024 * 1024;

/** One exchange of JSON, never repeated here: whether that is safe depends on what is asked. */
export async function callHttp({ method, url, headers, body, timeoutMs }: HttpCall): Promise<HttpOutcome> {
  try {
    const response = await fetch(url, {
      method,
      headers: { ...headers, ...(body !== undefined && { 'Content-Type': 'application/json' }) },
      body: body === undefined ? undefined : JSON.stringify(body),
      // A redirect would carry the key to an address that nobody has configured.
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const isRedirect = response.status >= 300 && response.status < 400;
    const text = await readText(response);
    if (text === null) return { kind: 'no_answer', message: `the answer is longer than ${maxAnswerBytes} bytes` };
    return {
      kind: 'answer',
      status: response.status,
      body: isRedirect ? { message: redirected, error: redirected } : parse(text),
      retryAfterMs: retryAfterMs(response.headers.get('retry-after')),
    };
  } catch (error) {
    const { cause, message, name } = error as Error & { cause?: { code?: string; message?: string } };
    const code = cause?.code ?? '';
    if (neverConnected.has(code)) return { kind: 'not_sent', message: `cannot connect (${code})` };
    if (name === 'TimeoutError') return { kind: 'no_answer', message: `no answer within ${timeoutMs} ms` };
    return { kind: 'no_answer', message: `the connection broke (${code || cause?.message || message})` };
  }
}

/** Where both providers would say it. */
const redirected = 'the address answers with a redirect, which is not followed';

/** Null when it is too long. */
async function readText(response: Response): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxAnswerBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}

/** Seconds, or a date. */
function retryAfterMs(header: string | null): number | null {
  if (header === null) return null;
  const ms = /^\d{1,6}$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}
