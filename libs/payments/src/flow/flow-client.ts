import { setTimeout as sleep } from 'node:timers/promises';
import { type Json, objectAt } from '@parley/contracts';
import { type HttpOutcome, callHttp } from '@parley/outbound';
import { z } from 'zod';
import type { FlowAccount } from './flow-account';
import { type FlowStatus, parseFlowStatus } from './flow-status';
import { type FlowParams, signParams } from './sign';

/**
 * Why Flow gave no answer that counts. `refused`: it said no, and asking again changes nothing. `unreachable`: it has not
 * seen the request. `uncertain`: it may have acted on it.
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
  /** JSON text that Flow hands back with the status. */
  optional?: string;
}

/** What of an account its client needs. */
export type FlowAccess = Pick<FlowAccount, 'apiUrl' | 'apiKey' | 'secretKey' | 'scope'>;

export type FlowStatusAnswer = { ok: true; status: FlowStatus } | FlowFailure;

export interface FlowClient {
  createPayment(order: NewFlowOrder): Promise<{ ok: true; order: FlowOrder } | FlowFailure>;
  getStatus(token: string): Promise<FlowStatusAnswer>;
  getStatusByFlowOrder(flowOrder: string): Promise<FlowStatusAnswer>;
  getStatusByCommerceId(commerceId: string): Promise<FlowStatusAnswer>;
}

export interface FlowClientOptions {
  /** Of one attempt of a question about a status, in milliseconds. */
  statusTimeoutMs?: number;
  /** Of a whole creation with its attempts, in milliseconds: far below the lease of its payment (docs/adr/0024). */
  createTimeoutMs?: number;
  signal?: AbortSignal;
}

const attempts = 3;
const firstWaitMs = 200;
/** The last pause between two attempts, with its random part. */
const longestPauseMs = firstWaitMs * 2 ** (attempts - 2) * 1.25;
/** Longer than any answer that Flow gives. */
const maxAnswerBytes = 262_144;

const orderSchema = z.object({
  url: z.url({ protocol: /^https?$/ }),
  token: z.string().min(1).max(256),
  flowOrder: z.union([z.number(), z.string().min(1)]).transform(String),
});

/**
 * Flow's payment API (providers.md 5). A question about a status is asked again when it got no answer; a creation only
 * when Flow cannot have seen it, as it would make another order. All attempts to create share one time limit.
 */
export function createFlowClient(
  { apiUrl, apiKey, secretKey, scope: { organizationId } }: FlowAccess,
  { statusTimeoutMs = 5_000, createTimeoutMs = 15_000, signal }: FlowClientOptions = {},
): FlowClient {
  const signed = (params: FlowParams): URLSearchParams => {
    const all = { apiKey, ...params };
    const form = new URLSearchParams(Object.entries(all).map(([key, value]): [string, string] => [key, String(value)]));
    form.set('s', signParams(all, secretKey));
    return form;
  };

  const exchange = async (operation: string, { limitMs, ...how }: Asking): Promise<Answer> => {
    const url = `${apiUrl}/payment/${operation}`;
    const headers = { accept: 'application/json' };
    return toAnswer(await callHttp({ ...how, url, headers, maxAnswerBytes, signal, organizationId }), limitMs);
  };

  async function status(operation: string, params: FlowParams): Promise<FlowStatusAnswer> {
    const limitMs = statusTimeoutMs;
    const ask = () => exchange(`${operation}?${signed(params)}`, { method: 'GET', timeoutMs: limitMs, limitMs });
    const answer = await again(ask, ({ reason }) => reason !== 'refused', signal);
    if (!answer.ok) return answer;
    const parsed = parseFlowStatus(answer.body);
    return parsed === null ? unreadable() : { ok: true, status: parsed };
  }

  return {
    async createPayment({ optional, ...order }) {
      const body = signed({ ...order, ...(optional !== undefined && { optional }) });
      const limitMs = createTimeoutMs;
      const endMs = performance.now() + limitMs;
      const leftMs = () => Math.ceil(endMs - performance.now());
      const send = () => exchange('create', { method: 'POST', body, timeoutMs: Math.max(1, leftMs()), limitMs });
      const answer = await again(send, ({ reason }) => reason === 'unreachable' && leftMs() > longestPauseMs, signal);
      if (!answer.ok) return answer;
      const parsed = orderSchema.safeParse(answer.body);
      if (!parsed.success) return unreadable();
      const { url, token, flowOrder } = parsed.data;
      return { ok: true, order: { link: `${url}?token=${encodeURIComponent(token)}`, token, flowOrder } };
    },
    getStatus: (token) => status('getStatus', { token }),
    getStatusByFlowOrder: (flowOrder) => status('getStatusByFlowOrder', { flowOrder }),
    getStatusByCommerceId: (commerceId) => status('getStatusByCommerceId', { commerceId }),
  };
}

/** `timeoutMs`: of this attempt. `limitMs`: the configured limit that it comes from, for the message. */
type Asking = { method: 'GET' | 'POST'; body?: URLSearchParams; timeoutMs: number; limitMs: number };
type Answer = { ok: true; body: unknown } | FlowFailure;

async function again(
  work: () => Promise<Answer>,
  mayRepeat: (failure: FlowFailure) => boolean,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await work();
    if (answer.ok || attempt === attempts || !mayRepeat(answer) || signal?.aborted) return answer;
    await sleep(firstWaitMs * 2 ** (attempt - 1) * (0.75 + Math.random() / 2), undefined, { signal }).catch(() => {});
  }
}

function toAnswer(outcome: HttpOutcome, limitMs: number): Answer {
  if (outcome.kind === 'answered') return judge(outcome.status, outcome.body);
  switch (outcome.reason) {
    case 'no_connection':
      return { ok: false, reason: 'unreachable', message: `Flow cannot be reached (${outcome.code})` };
    case 'no_place':
      return { ok: false, reason: 'unreachable', message: `Flow was not asked: ${outcome.message}` };
    case 'timeout':
      return uncertain(`Flow did not answer within ${limitMs / 1000} s`);
    case 'aborted':
      return uncertain('The request to Flow was given up');
    case 'broken':
      return uncertain(`The connection to Flow broke${outcome.code === '' ? '' : ` (${outcome.code})`}`);
    case 'too_long':
      return judge(outcome.status, null);
  }
}

function judge(status: number, body: Json): Answer {
  // 401 is Flow's status for errors of business, too (providers.md 5.3).
  if (status >= 200 && status < 300) return body === null ? unreadable() : { ok: true, body };
  if (status === 429) return { ok: false, reason: 'unreachable', message: 'Flow takes no more requests now (429)' };
  if (status >= 400 && status < 500) {
    const { code, message } = objectAt(body);
    const said = typeof message === 'string' && message !== '' ? message.slice(0, 500) : `HTTP ${status}`;
    return {
      ok: false,
      reason: 'refused',
      message: said.replaceAll('\u0000', '').toWellFormed(),
      code: typeof code === 'number' ? code : null,
    };
  }
  if (status >= 300 && status < 400) {
    return { ok: false, reason: 'refused', message: `apiUrl answers with a redirect (${status})`, code: null };
  }
  return uncertain(`Flow answered ${status}`);
}

const uncertain = (message: string): FlowFailure => ({ ok: false, reason: 'uncertain', message });
const unreadable = (): FlowFailure => uncertain('Flow gave an answer that cannot be read');
