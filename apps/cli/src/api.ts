import type { ErrorBody, ErrorDetail } from '@parley/contracts';
import { apiAddress } from './environment';
import { Failure, exitCodes } from './failure';

/** An answer that is not a success: what it says, and its code and request id for whoever looks it up. */
export class ApiFailure extends Failure {
  constructor(
    readonly status: number,
    readonly code: string | undefined,
    readonly requestId: string | undefined,
    readonly details: ErrorDetail[],
    text: string,
  ) {
    const marks = [code, requestId && `request ${requestId}`].filter(Boolean).join(', ');
    const fields = { status, code, requestId, details };
    super(marks === '' ? text : `${text} (${marks})`, exitCodes.failure, fields, text);
  }
}

export interface Api {
  url: string;
  key: string;
  /** POSTs JSON and gives the answer's body; an ApiFailure when it is not a success. */
  post<T>(path: string, body: object): Promise<T>;
}

/** A model may think for long: the server's own limits come first. */
const timeoutMs = 300_000;

/** The HTTP interface of PARLEY_URL with the key of PARLEY_API_KEY, else of the running development stack. */
export function createApi({ url, key } = apiAddress()): Api {
  return {
    url,
    key,
    async post<T>(path: string, body: object) {
      const response = await send(`${url}${path}`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(timeoutMs),
      });
      const answer = parse(response.text);
      if (response.ok && answer !== undefined) return answer as T;
      throw failureOf(response.status, answer);
    },
  };
}

async function send(url: string, init: RequestInit): Promise<{ ok: boolean; status: number; text: string }> {
  try {
    const response = await fetch(url, init);
    return { ok: response.ok, status: response.status, text: await response.text() };
  } catch (error) {
    const cause = (error as { cause?: { code?: string; message?: string } }).cause;
    const reason = cause?.message || cause?.code || (error as Error).message;
    throw unreachable(url, reason);
  }
}

/** No answer at all: it may come back. */
export const unreachable = (url: string, reason: string): Failure =>
  new Failure(`${new URL(url).origin} does not answer: ${reason}`, exitCodes.failure, { code: 'unreachable' });

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function failureOf(status: number, answer: unknown): ApiFailure {
  const body = (typeof answer === 'object' && answer !== null ? answer : {}) as Partial<ErrorBody>;
  const text = body.error ?? `HTTP ${status} with a body that is not of Parley`;
  return new ApiFailure(status, body.code, body.requestId, body.details ?? [], text);
}
