import { setTimeout as sleep } from 'node:timers/promises';
import { type Json, objectAt } from '@parley/contracts';
import { type AddressGuard, type HttpOutcome, callHttp } from '@parley/outbound';
import { z } from 'zod';
import type { FlowAccount } from './flow-account';
import { type FlowStatus, parseFlowStatus } from './flow-status';
import { type FlowParams, signParams } from './sign';

/**
 * A call without a usable answer. `refused`: a permanent error. `unreachable`: Flow has not
 * received the request. `uncertain`: Flow may have executed the request.
 */
export type FlowFailure =
  | { ok: false; reason: 'refused'; message: string; code: number | null }
  | { ok: false; reason: 'unreachable' | 'uncertain'; message: string };

export interface FlowOrder {
  /** Address of the payment page, with its token. */
  link: string;
  token: string;
  flowOrder: string;
}

export interface NewFlowOrder {
  commerceOrder: string;
  subject: string;
  amount: number;
  currency: string;
  email: string;
  urlConfirmation: string;
  urlReturn: string;
  /** JSON text that Flow returns with the status. */
  optional?: string;
}

/** The part of an account that the client needs. */
export type FlowAccess = Pick<FlowAccount, 'apiUrl' | 'apiKey' | 'secretKey' | 'scope'>;

export type FlowStatusAnswer = { ok: true; status: FlowStatus } | FlowFailure;

export type FlowClient = ReturnType<typeof createFlowClient>;

export interface FlowClientOptions {
  /** Time limit of one attempt to get a status. */
  statusTimeoutMs?: number;
  /**
   * Time limit of a creation with all its attempts. Far below the lease of its payment
   * (docs/adr/0024).
   */
  createTimeoutMs?: number;
  /**
   * Maximum wait for a slot of the organization; 0 for jobs, which would occupy their queue.
   * Default: the attempt's time.
   */
  slotWaitMs?: number;
  signal?: AbortSignal;
  /** Refuses addresses that are not public. */
  guard?: AddressGuard;
}

const maxAttempts = 3;
const firstWaitMs = 200;
/** The last wait between two attempts, with its random part. */
const maxWaitMs = firstWaitMs * 2 ** (maxAttempts - 2) * 1.25;
/** More than the size of any answer of Flow. */
const maxAnswerBytes = 262_144;

const orderSchema = z.object({
  url: z.url({ protocol: /^https?$/ }),
  token: z.string().min(1).max(256),
  flowOrder: z.union([z.number(), z.string().min(1)]).transform(String),
});

/**
 * A client of Flow's payment API (docs/reference/providers.md#flow-payments). A status request
 * without an answer is retried. A creation is retried only if Flow cannot have received it, since
 * Flow would create a second order.
 */
export function createFlowClient(
  { apiUrl, apiKey, secretKey, scope: { organizationId } }: FlowAccess,
  {
    statusTimeoutMs = 5_000,
    createTimeoutMs = 15_000,
    slotWaitMs,
    signal,
    guard,
  }: FlowClientOptions = {},
) {
  const signed = (params: FlowParams): URLSearchParams => {
    const all = { apiKey, ...params };
    const form = new URLSearchParams(
      Object.entries(all).map(([key, value]): [string, string] => [key, String(value)]),
    );
    form.set('s', signParams(all, secretKey));
    return form;
  };

  const call = async (operation: string, { limitMs, ...request }: CallOptions): Promise<Answer> => {
    const url = `${apiUrl}/payment/${operation}`;
    const headers = { accept: 'application/json' };
    return toAnswer(
      await callHttp({
        ...request,
        url,
        headers,
        maxAnswerBytes,
        signal,
        organizationId,
        slotWaitMs,
        guard,
      }),
      limitMs,
    );
  };

  async function status(operation: string, params: FlowParams): Promise<FlowStatusAnswer> {
    const limitMs = statusTimeoutMs;
    const ask = () =>
      call(`${operation}?${signed(params)}`, { method: 'GET', timeoutMs: limitMs, limitMs });
    const answer = await withRetries(ask, ({ reason }) => reason !== 'refused', signal);
    if (!answer.ok) return answer;
    const parsed = parseFlowStatus(answer.body);
    return parsed === null ? unreadable() : { ok: true, status: parsed };
  }

  return {
    async createPayment({
      optional,
      ...order
    }: NewFlowOrder): Promise<{ ok: true; order: FlowOrder } | FlowFailure> {
      const body = signed({ ...order, ...(optional !== undefined && { optional }) });
      const limitMs = createTimeoutMs;
      const endMs = performance.now() + limitMs;
      const leftMs = () => Math.ceil(endMs - performance.now());
      const send = () =>
        call('create', { method: 'POST', body, timeoutMs: Math.max(1, leftMs()), limitMs });
      const answer = await withRetries(
        send,
        ({ reason }) => reason === 'unreachable' && leftMs() > maxWaitMs,
        signal,
      );
      if (!answer.ok) return answer;
      const parsed = orderSchema.safeParse(answer.body);
      if (!parsed.success) return unreadable();
      const { url, token, flowOrder } = parsed.data;
      return {
        ok: true,
        order: { link: `${url}?token=${encodeURIComponent(token)}`, token, flowOrder },
      };
    },
    getStatus: (token: string) => status('getStatus', { token }),
    getStatusByFlowOrder: (flowOrder: string) => status('getStatusByFlowOrder', { flowOrder }),
    getStatusByCommerceId: (commerceId: string) => status('getStatusByCommerceId', { commerceId }),
  };
}

/** `timeoutMs`: time limit of this attempt. `limitMs`: the configured limit, for messages. */
type CallOptions = {
  method: 'GET' | 'POST';
  body?: URLSearchParams;
  timeoutMs: number;
  limitMs: number;
};
type Answer = { ok: true; body: unknown } | FlowFailure;

async function withRetries(
  work: () => Promise<Answer>,
  mayRepeat: (failure: FlowFailure) => boolean,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await work();
    if (answer.ok || attempt === maxAttempts || !mayRepeat(answer) || signal?.aborted)
      return answer;
    await sleep(firstWaitMs * 2 ** (attempt - 1) * (0.75 + Math.random() / 2), undefined, {
      signal,
    }).catch(() => {});
  }
}

function toAnswer(outcome: HttpOutcome, limitMs: number): Answer {
  if (outcome.kind === 'answered') return readResponse(outcome.status, outcome.body);
  switch (outcome.reason) {
    case 'no_connection':
      return {
        ok: false,
        reason: 'unreachable',
        message: `Flow cannot be reached: ${outcome.message}`,
      };
    case 'no_slot':
      return {
        ok: false,
        reason: 'unreachable',
        message: `Flow was not called: ${outcome.message}`,
      };
    case 'timeout':
      return uncertain(`Flow did not answer within ${limitMs / 1000} s`);
    case 'aborted':
      return uncertain('The request to Flow was aborted');
    case 'broken':
      return uncertain(
        `The connection to Flow broke${outcome.code === '' ? '' : ` (${outcome.code})`}`,
      );
    case 'too_long':
      return readResponse(outcome.status, null);
  }
}

function readResponse(status: number, body: Json): Answer {
  // 401 means wrong keys or a business error (docs/reference/providers.md#flow-errors).
  if (status >= 200 && status < 300) return body === null ? unreadable() : { ok: true, body };
  if (status === 429)
    return { ok: false, reason: 'unreachable', message: 'Flow answered 429 (too many requests)' };
  if (status >= 400 && status < 500) {
    const { code, message } = objectAt(body);
    const text =
      typeof message === 'string' && message !== '' ? message.slice(0, 500) : `HTTP ${status}`;
    return {
      ok: false,
      reason: 'refused',
      message: text.replaceAll('\u0000', '').toWellFormed(),
      code: typeof code === 'number' ? code : null,
    };
  }
  if (status >= 300 && status < 400) {
    return {
      ok: false,
      reason: 'refused',
      message: `apiUrl answers with a redirect (${status})`,
      code: null,
    };
  }
  return uncertain(`Flow answered ${status}`);
}

const uncertain = (message: string): FlowFailure => ({ ok: false, reason: 'uncertain', message });
const unreadable = (): FlowFailure => uncertain('The answer of Flow could not be read');
