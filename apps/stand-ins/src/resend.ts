import { randomUUID } from 'node:crypto';
import { type ApiAnswer, type ApiRequest, fieldsOf } from './provider';
import type { Store } from './store';

const error = (statusCode: number, name: string, message: string): ApiAnswer => ({
  status: statusCode,
  body: { statusCode, name, message },
});

/** Answers a request to Resend's API (docs/reference/providers.md#resend-e-mails). */
export function answerResend(store: Store, { method, path, headers, body }: ApiRequest): ApiAnswer {
  const account = store.find(/^Bearer (\S+)$/.exec(String(headers.authorization))?.[1] ?? '');
  if (account === undefined) return error(401, 'invalid_api_key', 'API key is invalid');
  if (method === 'GET' && path === '/domains') return { status: 200, body: { data: [] } };
  if (method !== 'POST' || path !== '/emails') return error(404, 'not_found', 'No such endpoint');
  const request = fieldsOf(body);
  const { from, to, subject, html, text } = request;
  if (!from || !to || !subject || (html ?? text) === undefined)
    return error(422, 'validation_error', 'from, to, subject, and html or text are required');
  const key = String(headers['idempotency-key'] ?? randomUUID());
  const before = account.emails.find((one) => one.key === key);
  if (before !== undefined) {
    const isSame = JSON.stringify(before.request) === JSON.stringify(request);
    return isSame
      ? { status: 200, body: { id: before.id } }
      : error(409, 'invalid_idempotent_request', 'The key belongs to another e-mail');
  }
  const id = randomUUID();
  account.emails.push({ id, key, request, at: new Date().toISOString() });
  store.save(account);
  return { status: 200, body: { id } };
}
