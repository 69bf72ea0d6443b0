import { readRetryAfter } from '@parley/outbound';

export interface ProviderError {
  kind: 'timeout' | 'aborted' | 'rate_limited' | 'unavailable' | 'rejected' | 'context_overflow';
  status?: number;
  /** The wait that the provider requests, in milliseconds. */
  retryAfterMs?: number;
  /** A code of the provider or the network, such as `insufficient_quota` or `ECONNREFUSED`. */
  code?: string;
  /** For the stored execution, and for callers in development. Not for logs: it may quote messages of people. */
  detail: string;
}

/** Classifies the errors that the four client libraries throw. An unreadable body counts as `unavailable`. */
export function readProviderError(error: unknown, now: Date = new Date()): ProviderError {
  const read = readKind(error, now);
  const code = codeOf(error);
  return code === undefined ? read : { ...read, code };
}

/** Only a short code, never a sentence: it is logged. */
function codeOf(error: unknown): string | undefined {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: { code?: unknown } };
  return [code, cause?.code].find((one): one is string => typeof one === 'string' && /^[\w.-]{1,64}$/.test(one));
}

function readKind(error: unknown, now: Date): ProviderError {
  const thrown = (typeof error === 'object' && error !== null ? error : {}) as Record<string, unknown>;
  const message = withoutLinks(typeof thrown.message === 'string' ? thrown.message : String(error));
  const status = statusOf(thrown);
  const detail = `${status ? `HTTP ${status}: ` : ''}${causeOf(thrown, message) ?? message}`.slice(0, 500);
  if (
    /context_length|maximum context length|exceeds the context window|prompt is too long|input token count.*exceeds|too many tokens/i.test(
      message,
    )
  ) {
    return { kind: 'context_overflow', status, detail };
  }
  if (thrown.name === 'TimeoutError' || thrown.name === 'APIConnectionTimeoutError') return { kind: 'timeout', detail };
  if (status === 429) return { kind: 'rate_limited', status, retryAfterMs: retryAfterOf(thrown, now), detail };
  if (status === undefined || status >= 500 || status === 408 || status === 409) {
    return { kind: 'unavailable', status, retryAfterMs: retryAfterOf(thrown, now), detail };
  }
  return { kind: 'rejected', status, detail };
}

/** Omits the sentences that refer to a page of the provider or of its library, unless nothing else is left. */
const withoutLinks = (text: string): string =>
  text.replace(/(?<=^|[.!?\n])[^.!?\n]*\bhttps?:\/\/\S+/g, '').trim() || text;

function statusOf(thrown: Record<string, unknown>): number | undefined {
  const status = thrown.status ?? thrown.status_code ?? thrown.statusCode;
  return typeof status === 'number' && status >= 300 ? status : undefined;
}

/** The error `fetch failed` has the reason in `cause`. */
function causeOf(thrown: Record<string, unknown>, message: string): string | undefined {
  const cause = thrown.cause as { code?: unknown; message?: unknown } | undefined;
  if (typeof cause?.code === 'string') return `${message} (${cause.code})`;
  return undefined;
}

function retryAfterOf(thrown: Record<string, unknown>, now: Date): number | undefined {
  const headers = thrown.headers;
  const read = (name: string): string | null | undefined =>
    headers instanceof Headers ? headers.get(name) : (headers as Record<string, string> | undefined)?.[name];
  const milliseconds = Number(read('retry-after-ms') ?? Number.NaN);
  if (Number.isFinite(milliseconds)) return Math.max(0, milliseconds);
  const waitMs = readRetryAfter(read('retry-after'), now.getTime());
  if (waitMs !== null) return waitMs;
  // Google sends the wait in the body: details[] with `retryDelay: "7s"`.
  const details = Array.isArray(thrown.errorDetails) ? (thrown.errorDetails as { retryDelay?: unknown }[]) : [];
  const delay = details.map((item) => item.retryDelay).find((value) => typeof value === 'string');
  return delay === undefined ? undefined : Math.max(0, Number.parseFloat(delay as string) * 1000) || undefined;
}
