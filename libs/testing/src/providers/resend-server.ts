import { randomUUID } from 'node:crypto';
import { type ProviderAnswer, type ProviderRequest, startProviderServer } from './provider-server';

export interface ResendServer {
  url: string;
  apiKey: string;
  /** All e-mails that were sent. */
  sent: { id: string; key: string; body: Record<string, unknown> }[];
  problems: string[];
  faults: ('limited' | 'broken' | 'lost_after')[];
  stop(): Promise<void>;
}

const error = (status: number, name: string, message: string): ProviderAnswer => ({
  status,
  body: { statusCode: status, name, message },
});

const limited: ProviderAnswer = {
  status: 429,
  body: { statusCode: 429, name: 'rate_limit_exceeded', message: 'Slow down' },
  headers: { 'Retry-After': '0' },
};

/**
 * Starts a stand-in for Resend's API (docs/reference/providers.md#resend-e-mails), with idempotency
 * keys, that checks its requests.
 */
export async function startResendServer(): Promise<ResendServer> {
  const state: Omit<ResendServer, 'url' | 'stop'> = {
    apiKey: 're_test_key',
    sent: [],
    problems: [],
    faults: [],
  };

  function answer({ method, path, headers, body }: ProviderRequest): ProviderAnswer {
    if (headers.authorization !== `Bearer ${state.apiKey}`)
      return error(401, 'invalid_api_key', 'API key is invalid');
    if (method === 'GET' && path === '/domains') return { status: 200, body: { data: [] } };
    if (method !== 'POST' || path !== '/emails') return error(404, 'not_found', 'No such endpoint');
    const key = String(headers['idempotency-key'] ?? '');
    if (key === '' || key.length > 256) state.problems.push('no idempotency key');
    const { from, to, subject, html, text } = body ?? {};
    if (!from || !to || !subject || (html ?? text) === undefined) {
      state.problems.push('incomplete e-mail');
      return error(422, 'validation_error', 'Missing field');
    }
    const before = state.sent.find((one) => one.key === key);
    if (before !== undefined) {
      const isSame = JSON.stringify(before.body) === JSON.stringify(body);
      return isSame
        ? { status: 200, body: { id: before.id } }
        : error(409, 'invalid_idempotent_request', 'Other body');
    }
    const fault = state.faults.shift();
    if (fault === 'limited') return limited;
    if (fault === 'broken') return error(500, 'application_error', 'Down');
    const id = randomUUID();
    state.sent.push({ id, key, body: body! });
    return fault === 'lost_after' ? 'drop' : { status: 200, body: { id } };
  }

  const server = await startProviderServer(answer);
  return Object.assign(state, { url: server.url, stop: server.stop });
}
