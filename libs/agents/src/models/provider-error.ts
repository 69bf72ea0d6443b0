import { AnswerTooLarge, ProviderFault, UnreadableAnswer } from './reading/provider-fault';

/**
 * - `unavailable`: an outage. It may be over at the next attempt, and counts for the
 *   circuit breaker.
 * - `rate_limited`: an attempt after the wait may succeed. It does not count.
 * - `context_overflow`, `content_filter`, `rejected`: the same request would be refused again.
 */
export type ProviderErrorKind =
  'unavailable' | 'rate_limited' | 'context_overflow' | 'content_filter' | 'rejected';

export interface ProviderError {
  kind: ProviderErrorKind;
  status?: number;
  /** The wait that the provider requests, in milliseconds. */
  retryAfterMs?: number;
  /** A code of the provider or the network, such as `insufficient_quota` or `ECONNREFUSED`. */
  code?: string;
  /**
   * For the stored execution, and for callers in development. Not for logs: it may quote
   * messages of people.
   */
  detail: string;
}

interface Cause {
  kind: ProviderErrorKind;
  statuses?: (status: number) => boolean;
  names?: RegExp;
  text?: RegExp;
}

/**
 * The first cause of which the status, and a name or the text, fit. The texts are those of the
 * servers' own messages.
 */
const causes: readonly Cause[] = [
  // OpenAI answers 429 to a single request that is larger than the limit of a
  // minute: no wait helps.
  { kind: 'context_overflow', statuses: (status) => status === 429, text: /request too large/i },
  { kind: 'context_overflow', statuses: (status) => status === 413 },
  {
    kind: 'context_overflow',
    statuses: (status) => status !== 429,
    names:
      /^(context_length_exceeded|exceed_context_size_error|request_too_large|string_above_max_length|context_window_exceeded|model_max_prompt_tokens_exceeded)$/i,
    text: /context[_ ](length|size|window|limit)|maximum context|reduce the length of|(prompt|input|request) (is )?too (long|large)|input tokens? exceeds?|token count.{0,60}exceeds|exceeds? the (maximum|max) (number of )?(input )?tokens|model token limit|maximum prompt length|range of input length|exceeds? max(imum)? length|too many (input )?tokens/i,
  },
  {
    kind: 'content_filter',
    statuses: (status) => status === 400 || status === 403 || status === 422,
    names:
      /^(content_filter|content_policy_violation|responsibleaipolicyviolation|moderation_blocked|invalid_prompt|data_?inspection_?failed)$/i,
    text: /content management policy|response was filtered|content policy|usage policy|content exists risk|flagged (as|by|for)|input was flagged/i,
  },
  {
    kind: 'rejected',
    names:
      /^(insufficient_quota|exceeded_current_quota_error|billing_hard_limit_reached|billing_error)$/i,
  },
  { kind: 'rate_limited', statuses: (status) => status === 429 },
  { kind: 'unavailable', statuses: (status) => status >= 500 || status === 408 || status === 409 },
  { kind: 'rejected' },
];

/**
 * Says what an error means for the next attempt. What is neither a provider's nor the network's is
 * our own: `rejected`.
 */
export function readProviderError(error: unknown): ProviderError {
  if (error instanceof ProviderFault) return readFault(error);
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof UnreadableAnswer) return { kind: 'unavailable', detail: message };
  if (error instanceof AnswerTooLarge) return { kind: 'rejected', detail: message };
  const code = networkCodeOf(error);
  if (code !== undefined) return { kind: 'unavailable', code, detail: `${message} (${code})` };
  return { kind: 'rejected', detail: shorten(message) };
}

function readFault({ message, status, names, retryAfterMs }: ProviderFault): ProviderError {
  const text = withoutLinks(message);
  const { kind } = causes.find((cause) => fits(cause, { status, names, message }))!;
  const code = names.find((name) => /^[\w.-]{1,64}$/.test(name));
  return {
    kind,
    status,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(code !== undefined && { code }),
    detail: shorten(`HTTP ${status}: ${text}`),
  };
}

function fits(
  { statuses, names, text }: Cause,
  fault: { status: number; names: readonly string[]; message: string },
): boolean {
  if (statuses !== undefined && !statuses(fault.status)) return false;
  if (names === undefined && text === undefined) return true;
  return fault.names.some((name) => names?.test(name)) || (text?.test(fault.message) ?? false);
}

const shorten = (text: string): string => text.slice(0, 500);

/** Omits the sentences that refer to a page of the provider, unless nothing else is left. */
const withoutLinks = (text: string): string =>
  text.replace(/(?<=^|[.!?\n])[^.!?\n]*\bhttps?:\/\/\S+/g, '').trim() || text;

/**
 * The code of an error of the network or of undici; undefined for other errors, such as those
 * of our own code.
 */
function networkCodeOf(error: unknown): string | undefined {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: { code?: unknown } };
  return [code, cause?.code].find(
    (one): one is string => typeof one === 'string' && isOfNetwork(one),
  );
}

const isOfNetwork = (code: string): boolean =>
  /^[A-Z][A-Z0-9_]{1,63}$/.test(code) &&
  code !== 'UND_ERR_INVALID_ARG' &&
  !/^ERR_(?!SSL|TLS)/.test(code);
