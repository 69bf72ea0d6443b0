import type { ErrorBody } from '@parley/contracts';
import type { ServerResponse } from 'node:http';
import type { Logger } from '../process/logger';
import { HttpError, unavailable } from './errors';
import { sendJson } from './send-json';

export interface ErrorRendering {
  requestId: string;
  log: Logger;
  /**
   * Whether an unexpected error means that a dependency is unavailable, which is answered with 503.
   */
  isUnavailable: (error: unknown) => boolean;
  /** The body of an error, if it is not the usual one. */
  shapeError?: ((error: HttpError) => object) | undefined;
}

/**
 * Sends an error as `{ error, code, requestId, details? }`. Unexpected errors are logged and sent
 * as `Internal error`.
 */
export function renderError(
  response: ServerResponse,
  error: unknown,
  { requestId, log, isUnavailable, shapeError }: ErrorRendering,
): void {
  const known = error instanceof HttpError ? error : isUnavailable(error) ? unavailable() : null;
  if (known === null) log.error({ err: error, requestId }, 'unexpected error');
  else if (!(error instanceof HttpError))
    log.warn({ err: error, requestId }, 'a dependency is unavailable');
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const shown = known ?? new HttpError(500, 'internal_error', 'Internal error');
  const { status, code, message, extra } = shown;
  // Caches may keep some errors, such as 404, unless they are forbidden to (RFC 9110, 15.1).
  const headers = { ...extra.headers, 'Cache-Control': 'no-store' };
  if (shapeError !== undefined) return sendJson(response, status, shapeError(shown), headers);
  const body: ErrorBody = {
    error: message,
    code,
    requestId,
    ...(extra.details && { details: extra.details }),
    ...extra.fields,
  };
  sendJson(response, status, body, headers);
}
