import { randomUUID } from 'node:crypto';
import { type JsonObject, ownValue } from '@parley/contracts';
import { loadWebhookSamples } from '@parley/webhooks';
import { apiUrl, readVariable } from '../environment';
import { Failure } from '../failure';
import { type KeyOptions, withManage } from '../manage';
import { findSecrets } from '../secrets';
import { note, print, printJson } from '../terminal';
import { adaptIdentitySample, adaptSample, setMember } from '../webhooks/adapt-sample';
import { signSample } from '../webhooks/sign-sample';

export interface WebhooksTriggerOptions extends KeyOptions {
  set?: string[];
  url?: string;
}

/**
 * `parley webhooks trigger`: sends a sample delivery, adapted to this environment and signed
 * like its provider's.
 */
export async function runWebhooksTrigger(
  event: string | undefined,
  { set = [], url, json, ...options }: WebhooksTriggerOptions,
): Promise<void> {
  const samples = await loadWebhookSamples();
  const names = Object.keys(samples);
  if (event === undefined) return json ? printJson({ events: names }) : print(names.join('\n'));
  const sample = ownValue(samples, event);
  if (sample === undefined)
    throw new Failure(`No sample "${event}". List the samples with: parley webhooks trigger`);
  const body = structuredClone(sample.body) as JsonObject;
  if (sample.path === '/webhook/clerk') await adaptIdentitySample(body, options);
  else
    for (const line of await withManage(options, (manage) =>
      adaptSample(manage, { ...sample, name: event }, body),
    ))
      note(line);
  for (const change of set) setMember(body, change);
  const address = apiUrl(url ?? readVariable('PARLEY_URL'));
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
    throw new Failure(`Cannot connect to ${address}: ${(error as Error).message}`);
  });
  const text = await response.text();
  if (!response.ok)
    throw new Failure(
      `${sample.path} returned ${response.status}: ${text}${adviceFor(sample.path, response.status)}`,
    );
  if (json) printJson({ status: response.status, path: sample.path, body });
  else
    print(`${sample.path} returned ${response.status}. See its status with: parley webhooks list`);
}

/**
 * Explains a 401 for an unsigned delivery of Clerk, which webhook-ingest refuses in production
 * without a reason.
 */
const adviceFor = (path: string, status: number): string =>
  path === '/webhook/clerk' && status === 401 && findSecrets('IDENTITY_WEBHOOK_SECRET').length === 0
    ? '. The delivery is unsigned, because IDENTITY_WEBHOOK_SECRET is not set here. Set it to the secret of webhook-ingest. If webhook-ingest has no secret, set one there, or set IDENTITY_WEBHOOK_UNSIGNED=true'
    : '';
