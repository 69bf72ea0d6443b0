/**
 * An answer that is not a success (interface.md, Client-side error object). `message` is the server's text, or
 * `HTTP <status>` when there is none; `body` is what was answered, parsed when it is JSON.
 */
export class ParleyApiError extends Error {
  override readonly name = 'ParleyApiError';
  readonly status: number;
  /** Stable, snake_case: `rate_limited`, `entity_not_found`. */
  readonly code?: string;
  readonly requestId?: string;
  /** Where a body failed validation. */
  readonly details?: { path: string; message: string }[];
  readonly body: unknown;

  constructor(status: number, body: unknown, requestId?: string | null) {
    const fields = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
    const { error, code, details } = fields;
    super(typeof error === 'string' && error !== '' ? error : `HTTP ${status}`);
    this.status = status;
    this.body = body;
    if (typeof code === 'string') this.code = code;
    if (typeof fields.requestId === 'string') this.requestId = fields.requestId;
    else if (requestId) this.requestId = requestId;
    if (Array.isArray(details)) this.details = details as { path: string; message: string }[];
  }
}
