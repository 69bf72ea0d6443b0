import { readRetryAfter } from '@parley/outbound';
import { listOf, lookUp, objectOf, parseJson, textOf } from './answer';

/** A longer message of a provider is cut before anything is looked for in it. */
const maxMessageChars = 2_000;

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** An error that a provider reported, with a status of HTTP or within an answer. */
export class ProviderFault extends Error {
  constructor(
    message: string,
    /** The status, or the one that fits the error within an answer. */
    readonly status: number,
    /**
     * The names by which the provider calls the error, such as `context_length_exceeded` and
     * `invalid_request_error`.
     */
    readonly names: readonly string[] = [],
    /** The wait that the provider requests, in milliseconds. */
    readonly retryAfterMs?: number,
  ) {
    super(message.slice(0, maxMessageChars));
  }
}

/** The answer breaks off, or is not what the protocol demands. */
export class UnreadableAnswer extends Error {}

/** The answer is larger than any answer of a model. */
export class AnswerTooLarge extends Error {}

/** Statuses of errors that are reported within an answer, by the names that providers give them. */
const statuses: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  invalid_request: 400,
  badrequesterror: 400,
  invalid_argument: 400,
  failed_precondition: 400,
  content_filter: 400,
  invalid_prompt: 400,
  authentication_error: 401,
  unauthenticated: 401,
  billing_error: 402,
  insufficient_quota: 402,
  permission_error: 403,
  permission_denied: 403,
  not_found_error: 404,
  not_found: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  resource_exhausted: 429,
  timeout_error: 504,
  overloaded_error: 529,
};
/** An error within an answer that has no status counts as one of a proxy. */
const unknownStatus = 502;

/** The error that a message or an event reports; null for an answer. */
export function reportedError(value: Record<string, unknown>): unknown {
  if (value.error != null) return value.error;
  return value.object === 'error' || value.type === 'error' ? value : null;
}

/** An error that was reported within an answer. */
export function faultOf(error: unknown): ProviderFault {
  const names = namesOf(error);
  const numeric = [objectOf(error).code, objectOf(error).status]
    .map(Number)
    .find((code) => code >= 400 && code < 600);
  const named = names
    .map((name) => lookUp(statuses, name.toLowerCase()))
    .find((status) => status !== undefined);
  return new ProviderFault(messageOf(error), numeric ?? named ?? unknownStatus, names);
}

/** The error of a response with an error status. `body` is its beginning. */
export function faultOfResponse(
  status: number,
  headers: Headers,
  body: string,
  nowMs = Date.now(),
): ProviderFault {
  const parsed = parseJson(body);
  const [first] = listOf(parsed);
  const value = objectOf(first ?? parsed);
  const error = value.error ?? (Object.keys(value).length > 0 ? value : body);
  const names = [
    ...namesOf(error),
    ...(error === value ? [] : namesOf({ code: value.code, type: value.type })),
  ];
  return new ProviderFault(
    messageOf(error),
    status,
    names,
    retryAfterOf(headers, objectOf(error), nowMs),
  );
}

/** What providers call an error, wherever they put it. */
function namesOf(error: unknown): string[] {
  const { code, type, status, innererror, inner_error: innerError } = objectOf(error);
  const inner = objectOf(innererror ?? innerError).code;
  return [code, type, status, inner].filter(
    (name): name is string => typeof name === 'string' && name !== '',
  );
}

function messageOf(error: unknown): string {
  if (typeof error === 'string') return error.trim() || 'no message';
  const { message, detail, error: nested, metadata } = objectOf(error);
  const own = textOf(message) || textOf(detail) || textOf(nested);
  // OpenRouter puts the text of the model's server here.
  const raw = textOf(objectOf(metadata).raw);
  return [own, raw].filter(Boolean).join(': ') || (JSON.stringify(error) ?? 'no message');
}

function retryAfterOf(
  headers: Headers,
  error: Record<string, unknown>,
  nowMs: number,
): number | undefined {
  const read = (name: string) => [headers[name] ?? []].flat()[0];
  const milliseconds = Number(read('retry-after-ms') ?? Number.NaN);
  if (Number.isFinite(milliseconds)) return Math.max(0, milliseconds);
  const waitMs = readRetryAfter(read('retry-after'), nowMs);
  if (waitMs !== null) return waitMs;
  // Google sends the wait in the body: details[] with `retryDelay: "7s"`.
  const delay = listOf(error.details)
    .map((item) => objectOf(item).retryDelay)
    .find((value) => typeof value === 'string');
  return delay === undefined
    ? undefined
    : Math.max(0, Number.parseFloat(delay as string) * 1000) || undefined;
}
