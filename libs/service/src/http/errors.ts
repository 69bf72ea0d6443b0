import type { ErrorDetail, PersonRole } from '@parley/contracts';

/**
 * An expected failure of a request. `renderError` sends it as
 * `{ error, code, requestId, details? }`.
 */
export class HttpError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly extra: {
      details?: ErrorDetail[];
      headers?: Record<string, string>;
      fields?: object;
    } = {},
  ) {
    super(message);
    this.name = 'HttpError';
  }
}

export const badRequest = (message: string, details?: ErrorDetail[], code = 'bad_request') =>
  new HttpError(400, code, message, { details });
export const unauthorized = (code = 'unauthorized') =>
  new HttpError(401, code, 'Unauthorized', { headers: { 'WWW-Authenticate': 'Bearer' } });
/**
 * 401 for a request whose Authorization header has no valid API key. `code` says what is wrong
 * with the header.
 */
export const withoutKey = (authorization = '') => {
  const [scheme, key] = authorization.trim().split(/ +/, 2);
  if (!scheme) return unauthorized('missing_key');
  if (scheme.toLowerCase() !== 'bearer') return unauthorized('wrong_scheme');
  return unauthorized(key ? 'unknown_key' : 'missing_key');
};
export const forbidden = (message: string, code = 'forbidden') => new HttpError(403, code, message);
export const publishableKey = () =>
  forbidden('A publishable key opens only the paths of the widget', 'publishable_key');
export const missingPermission = (permission: string) =>
  forbidden(`API key does not have ${permission} permission`, 'missing_permission');
export const keyHasRole = () =>
  forbidden('A key with a role cannot use this endpoint', 'key_has_role');
export const notForPerson = (people: PersonRole | undefined) =>
  people === undefined
    ? forbidden('This endpoint requires an API key', 'requires_key')
    : forbidden('Only an admin of the organization may do this', 'requires_admin');
export const notFound = (message: string, code = 'not_found') => new HttpError(404, code, message);
export const conflict = (message: string, code = 'conflict') => new HttpError(409, code, message);
export const methodNotAllowed = (allowed: string[]) =>
  new HttpError(405, 'method_not_allowed', 'Method not allowed', {
    headers: { Allow: allowed.join(', ') },
  });
export const payloadTooLarge = (limitBytes: number) =>
  new HttpError(413, 'payload_too_large', `Request body is larger than ${limitBytes} bytes`);
export const unsupportedEncoding = () =>
  new HttpError(415, 'unsupported_encoding', 'Compressed request bodies are not supported');

/**
 * 429 with `Retry-After` in seconds and `retryAt` in Unix milliseconds
 * (docs/reference/limits.md#rate-limits).
 */
export const rateLimited = (
  retryAtMs: number,
  code = 'rate_limited',
  message = 'Rate limit exceeded',
) =>
  new HttpError(429, code, message, {
    headers: { 'Retry-After': String(Math.max(1, Math.ceil((retryAtMs - Date.now()) / 1000))) },
    fields: { retryAt: retryAtMs },
  });

/**
 * The client reads too many streams, or waits for too many executions. Others may end
 * in the meantime.
 */
export const tooManyStreams = () =>
  rateLimited(
    Date.now() + 10_000,
    'too_many_streams',
    'Too many streams and waits of the key, person or organization are open',
  );

/**
 * A documented 500, such as the one for an unknown agent (docs/reference/errors.md#chat-errors).
 */
export const serverError = (message: string, code: string) => new HttpError(500, code, message);
export const badGateway = (message: string, code = 'upstream_failed') =>
  new HttpError(502, code, message);
export const gatewayTimeout = (message: string, code = 'upstream_timeout') =>
  new HttpError(504, code, message);
export const unavailable = (
  message = 'Service temporarily unavailable',
  retryAfterSeconds = 2,
  code = 'unavailable',
) => new HttpError(503, code, message, { headers: { 'Retry-After': String(retryAfterSeconds) } });
