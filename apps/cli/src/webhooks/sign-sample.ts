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

/** The signature headers that the provider of a path would send with this body now. */
export function signSample(path: string, body: Buffer): Record<string, string> {
  // Flow does not sign its callback, which only asks the receiver to fetch the status of a payment.
  if (path === '/webhook/flow') return {};
  const variable = variables[path]!;
  const [secret] = findSecrets(variable);
  const id = `msg_${randomUUID()}`;
  // Outside production, webhook-ingest accepts Clerk's deliveries unsigned.
  if (secret === undefined && path === '/webhook/clerk') return { 'svix-id': id };
  if (secret === undefined)
    throw new Failure(`${variable} is not set. Set it to the ${variable} of webhook-ingest`);
  if (path.startsWith('/webhook/kapso')) return { 'X-Webhook-Signature': signBody(body, secret) };
  const family = path === '/webhook/polar' ? 'webhook' : 'svix';
  const isSecretDecoded = family === 'svix';
  return signStandardWebhook({ id, body, secret, family, isSecretDecoded, nowMs: Date.now() });
}
