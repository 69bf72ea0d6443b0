import { randomUUID } from 'node:crypto';
import { signBody, signStandardWebhook } from '@parley/webhooks';
import { Failure } from '../failure';
import { findSecrets } from '../secrets';

const variables: Readonly<Record<string, string>> = {
  '/webhook/clerk': 'IDENTITY_WEBHOOK_SECRET',
  '/webhook/kapso/project': 'MESSAGING_WEBHOOK_SECRET',
  '/webhook/kapso/messages': 'MESSAGING_WEBHOOK_SECRET',
  '/webhook/polar': 'BILLING_WEBHOOK_SECRET',
  '/webhook/resend': 'EMAIL_WEBHOOK_SECRET',
};

/** The headers with which the provider of a path would prove its delivery now. */
export function signSample(path: string, body: Buffer): Record<string, string> {
  // Flow signs nothing: its callback only says that a payment should be asked for.
  if (path === '/webhook/flow') return {};
  const variable = variables[path]!;
  const [secret] = findSecrets(variable);
  const id = `msg_${randomUUID()}`;
  // Outside production, webhook-ingest accepts Clerk's deliveries unsigned.
  if (secret === undefined && path === '/webhook/clerk') return { 'svix-id': id };
  if (secret === undefined) throw new Failure(`${variable} is not set: it must be the one that webhook-ingest has`);
  if (path.startsWith('/webhook/kapso')) return { 'X-Webhook-Signature': signBody(body, secret) };
  const family = path === '/webhook/polar' ? 'webhook' : 'svix';
  const isSecretDecoded = family === 'svix';
  return signStandardWebhook({ id, body, secret, family, isSecretDecoded, nowMs: Date.now() });
}
