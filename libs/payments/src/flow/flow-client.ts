import { setTimeout as sleep } from 'node:timers/promises';
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
  /** Of the one attempt to create, in milliseconds. */
  createTimeoutMs?: number;
  signal?: AbortSignal;
}

const attempts = 3;
const firstWaitMs = 200;
const maxAnswerBytes = 262_144;

const orderSchema = z.object({
  url: z.url({ protocol: /^https?$/ }),
  token: z.string().min(1).max(256),
  flowOrder: z.union([z.number(), z.string().min(1)]).transform(String),
});

/**
 * Flow's payment API (providers.md 5). A question about a status is asked again when it got no answer; a creation only
 * when Flow cannot have seen it, as it would make another order.
 */
export function createFlowClient(
  { apiUrl, apiKey, secretKey }: Pick<FlowAccount, 'apiUrl' | 'apiKey' | 'secretKey'>,
  { statusTimeoutMs = 5_000, createTimeoutMs = 15_000, signal }: FlowClientOptions = {},
): FlowClient {
  const signed = (params: FlowParams): URLSearchParams => {
    const all = { apiKey, ...params };
    const form = new URLSearchParams(Object.entries(all).map(([key, value]): [string, string] => [key, String(value)]));
    form.set('s', signParams(all, secretKey));
    return form;
  };

  async function status(operation: string, params: FlowParams): Promise<FlowStatusAnswer> {
    const ask = () => exchange(`${apiUrl}/payment/${operation}?${signed(params)}`, {}, statusTimeoutMs, signal);
    const answer = await again(ask, ({ reason }) => reason !== 'refused', signal);
    if (!answer.ok) return answer;
    const parsed = parseFlowStatus(answer.body);
    return parsed === null ? unreadable() : { ok: true, status: parsed };
  }

  return {
    async createPayment({ optional, ...order }) {
      const body = signed({ ...order, ...(optional !== undefined && { optional }) });
      const send = () => exchange(`${apiUrl}/payment/create`, { method: 'POST', body }, createTimeoutMs, signal);
      const answer = await again(send, ({ reason }) => reason === 'unreachable', signal);
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

async function exchange(
  url: string,
  init: { method?: string; body?: URLSearchParams },
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<Answer> {
  const limit = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, {
      ...init,
      // A redirect would carry the signed request to an address that nobody has configured.
      redirect: 'manual',
      headers: { accept: 'application/json' },
      signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
    });
    const text = await readText(response);
    return judge(response.status, text);
  } catch (error) {
    if (limit.aborted) return uncertain(`Flow did not answer within ${timeoutMs / 1000} s`);
    if (signal?.aborted) return uncertain('The request to Flow was given up');
    const code = codeOf(error);
    return neverSent.has(code)
      ? { ok: false, reason: 'unreachable', message: `Flow cannot be reached (${code})` }
      : uncertain(`The connection to Flow broke${code === '' ? '' : ` (${code})`}`);
  }
}

function judge(status: number, text: string | null): Answer {
  const body = text === null ? undefined : parseJson(text);
  // 401 is Flow's status for errors of business, too (providers.md 5.3).
  if (status >= 200 && status < 300) return body === undefined ? unreadable() : { ok: true, body };
  if (status === 429) return { ok: false, reason: 'unreachable', message: 'Flow takes no more requests now (429)' };
  if (status >= 400 && status < 500) {
    const { code, message } = (body ?? {}) as { code?: unknown; message?: unknown };
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

/** The text of an answer; null when it is longer than any that Flow gives. */
async function readText(response: Response): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxAnswerBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Errors that come before the first byte of a request is sent. */
const neverSent = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

function codeOf(error: unknown): string {
  const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } };
  if (typeof cause?.code === 'string') return cause.code;
  return typeof code === 'string' ? code : '';
}
