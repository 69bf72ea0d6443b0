/**
 * Thrown when a response is not a success. `message` is the error text of the server, or `HTTP <status>` if the response contains none.
 * `body` is what the server answered: the parsed JSON, or else the first 65,536 characters of the text. It is undefined if the answer was empty.
 */
export class ParleyApiError extends Error {
  override readonly name = 'ParleyApiError';
  readonly status: number;
  /** A stable code in snake_case, such as `rate_limited` or `entity_not_found`. */
  readonly code?: string;
  readonly requestId?: string;
  /** The fields that failed validation. */
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
