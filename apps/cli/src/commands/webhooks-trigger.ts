import { randomUUID } from 'node:crypto';
import type { JsonObject } from '@parley/contracts';
import { loadWebhookSamples } from '@parley/webhooks';
import { findStack, noAddress, readVariable } from '../environment';
import { Failure } from '../failure';
import { type ScopeOptions, withScope } from '../scope';
import { findSecrets } from '../secrets';
import { note, print, printJson } from '../terminal';
import { adaptSample, setMember } from '../webhooks/adapt-sample';
import { signSample } from '../webhooks/sign-sample';

export interface WebhooksTriggerOptions extends ScopeOptions {
  set?: string[];
  url?: string;
  json?: boolean;
}

/** `parley webhooks trigger`: a delivery as its provider would send it, about this environment. */
export async function runWebhooksTrigger(
  event: string | undefined,
  { set = [], url, json, ...scopeOptions }: WebhooksTriggerOptions,
): Promise<void> {
  const samples = await loadWebhookSamples();
  const names = Object.keys(samples);
  if (event === undefined) return json ? printJson({ events: names }) : print(names.join('\n'));
  const sample = samples[event];
  if (sample === undefined)
    throw new Failure(`No sample "${event}"; parley webhooks trigger without an event lists them`);
  const body = structuredClone(sample.body) as JsonObject;
  await withScope(scopeOptions, async (db, scope) => {
    for (const line of await adaptSample(db, scope, { ...sample, name: event }, body)) note(line);
  });
  for (const change of set) setMember(body, change);
  const address = (url ?? readVariable('PARLEY_URL') ?? findStack()?.gatewayUrl)?.replace(/\/+$/, '');
  if (address === undefined) throw new Failure(noAddress);
  const isForm = sample.path === '/webhook/flow';
  const bytes = Buffer.from(
    isForm ? String(new URLSearchParams(body as Record<string, string>)) : JSON.stringify(body),
  );
  const response = await fetch(address + sample.path, {
    method: 'POST',
    headers: {
      'Content-Type': isForm ? 'application/x-www-form-urlencoded' : 'application/json',
      ...(sample.path.includes('/kapso/') && {
        'X-Webhook-Event': sample.event,
        'X-Webhook-Payload-Version': 'v2',
        'X-Idempotency-Key': randomUUID(),
      }),
      ...signSample(sample.path, bytes),
    },
    body: new Uint8Array(bytes),
  }).catch((error: unknown) => {
    throw new Failure(`${address} does not answer: ${(error as Error).message}`);
  });
  const text = await response.text();
  if (!response.ok)
    throw new Failure(`${sample.path} answered ${response.status}: ${text}${adviceFor(sample.path, response.status)}`);
  if (json) printJson({ status: response.status, path: sample.path, body });
  else print(`${sample.path} answered ${response.status}. Its status: parley webhooks list`);
}

/** The reply never says why it refuses: in production webhook-ingest takes no unsigned delivery of Clerk. */
const adviceFor = (path: string, status: number): string =>
  path === '/webhook/clerk' && status === 401 && findSecrets('IDENTITY_WEBHOOK_SECRET').length === 0
    ? '. IDENTITY_WEBHOOK_SECRET is not set here, so the delivery is unsigned. Set it to the secret of webhook-ingest; when that has none, set one there, or IDENTITY_WEBHOOK_UNSIGNED=true'
    : '';
