/**
 * Thrown when a response is not a success, and when there is no response because the server cannot
 * be reached or has closed the connection. `message` is the error text of the server, or
 * `HTTP <status>` if the response contains none. `body` is what the server answered: the parsed
 * JSON, or else the first 65,536 characters of the text. It is undefined if the answer was empty.
 */
export class ParleyApiError extends Error {
  override readonly name = 'ParleyApiError';
  /** The status of the response, or 0 without a response. */
  readonly status: number;
  /**
   * A stable code in snake_case, such as `rate_limited` or `entity_not_found`; `unreachable`
   * without a response.
   */
  readonly code?: string;
  readonly requestId?: string;
  /** The fields that failed validation. */
  readonly details?: { path: string; message: string }[];
  /** After 429: when the request can be repeated, in Unix milliseconds. */
  readonly retryAt?: number;
  readonly body: unknown;

  /** `cause`: without a response, the error of the network. */
  constructor(status: number, body: unknown, requestId?: string | null, cause?: unknown) {
    const fields = (typeof body === 'object' && body !== null ? body : {}) as Record<
      string,
      unknown
    >;
    const { error, code, details, retryAt } = fields;
    super(
      typeof error === 'string' && error !== '' ? error : `HTTP ${status}`,
      cause === undefined ? undefined : { cause },
    );
    this.status = status;
    this.body = body;
    if (typeof code === 'string') this.code = code;
    if (typeof fields.requestId === 'string') this.requestId = fields.requestId;
    else if (requestId) this.requestId = requestId;
    if (typeof retryAt === 'number') this.retryAt = retryAt;
    if (Array.isArray(details)) this.details = details as { path: string; message: string }[];
  }
}
