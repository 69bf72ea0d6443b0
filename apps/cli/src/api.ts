import type { ErrorBody, ErrorDetail, LogLine } from '@parley/contracts';
import { apiAddress } from './environment';
import { Failure, exitCodes } from './failure';

/**
 * An error response of the API: its message, with the code and the request id that
 * identify it in the logs.
 */
export class ApiFailure extends Failure {
  constructor(
    readonly status: number,
    readonly code: string | undefined,
    readonly requestId: string | undefined,
    readonly details: ErrorDetail[],
    text: string,
    /** What the handler of a custom tool wrote to its console. */
    readonly logs?: LogLine[],
  ) {
    const reference = [code, requestId && `request ${requestId}`].filter(Boolean).join(', ');
    const fields = { status, code, requestId, details, ...(logs && { logs }) };
    super(reference === '' ? text : `${text} (${reference})`, exitCodes.failure, fields, text);
  }
}

export interface Api {
  url: string;
  key: string;
  /**
   * Sends a POST request with a JSON body and returns the response body. Throws an ApiFailure for
   * an error response.
   */
  post<T>(path: string, body: object): Promise<T>;
  /** The same for a request without a body. */
  get<T>(path: string): Promise<T>;
  remove<T>(path: string): Promise<T>;
}

/**
 * Longer than the server's own limits on a turn, so that the server's error arrives
 * before this timeout.
 */
const timeoutMs = 300_000;

/**
 * A client of the HTTP API at PARLEY_URL with PARLEY_API_KEY; defaults to the running
 * development stack.
 */
export function createApi({ url, key } = apiAddress()): Api {
  async function request<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await send(`${url}${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${key}`,
        ...(body && { 'Content-Type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const answer = parse(response.text);
    if (response.ok && answer !== undefined) return answer as T;
    throw failureOf(response.status, answer);
  }
  return {
    url,
    key,
    post: (path, body) => request('POST', path, body),
    get: (path) => request('GET', path),
    remove: (path) => request('DELETE', path),
  };
}

async function send(
  url: string,
  init: RequestInit,
): Promise<{ ok: boolean; status: number; text: string }> {
  try {
    const response = await fetch(url, init);
    return { ok: response.ok, status: response.status, text: await response.text() };
  } catch (error) {
    const cause = (error as { cause?: { code?: string; message?: string } }).cause;
    const reason = cause?.message || cause?.code || (error as Error).message;
    throw unreachable(url, reason);
  }
}

/** The server sent no response. `dev` retries this failure, which it recognizes by its code. */
export const unreachable = (url: string, reason: string): Failure =>
  new Failure(`Cannot connect to ${new URL(url).origin}: ${reason}`, exitCodes.failure, {
    code: 'unreachable',
  });

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function failureOf(status: number, answer: unknown): ApiFailure {
  const body = (typeof answer === 'object' && answer !== null ? answer : {}) as Partial<
    ErrorBody & { logs: LogLine[]; reason: string }
  >;
  const text =
    body.error ??
    `HTTP ${status} without a Parley error body. Check that PARLEY_URL is a Parley gateway`;
  const explained = body.reason === undefined ? text : `${text}: ${body.reason}`;
  return new ApiFailure(
    status,
    body.code,
    body.requestId,
    body.details ?? [],
    explained,
    body.logs,
  );
}
