import { createHash, randomUUID } from 'node:crypto';
import { type Db, isDatabaseUnavailable } from '@parley/db';
import type { Logger } from '@parley/service';
import {
  type DeliveryStatus,
  type Inbox,
  type NewDelivery,
  type Verdict,
  headerOf,
} from '@parley/webhooks';
import type { WebhookEndpoint, Owner, RawDelivery, Reading } from './webhook-endpoint';
import type { JobSender } from './job-sender';
import type { RefusalLog } from './refusal-log';

export interface ReceiveDeps {
  db: Db;
  inbox: Inbox;
  jobs: JobSender;
  refusals: RefusalLog;
  log: Logger;
  /** Called for every delivery. `outcome` is its status, or the reason why it has no row. */
  onDelivery?: (
    provider: string,
    outcome: DeliveryStatus | 'duplicate' | 'held' | 'refused' | 'lost',
  ) => void;
  now?: () => number;
}

const noOwner: Owner = { tenant: null, environment: null };

/**
 * Processes a delivery: checks the signature of the raw bytes, finds the owner, stores one row
 * and sends its job. Resolves when the delivery may be acknowledged, and throws the endpoint's
 * refusal otherwise. It does not wait for Redis: once the row is stored, the worker's sweep sends
 * a job that was lost.
 */
export async function receiveDelivery(
  deps: ReceiveDeps,
  endpoint: WebhookEndpoint,
  delivery: RawDelivery,
  requestId: string,
): Promise<void> {
  const { provider, refusals } = endpoint;
  const { path } = endpoint.operation;
  const nowMs = (deps.now ?? Date.now)();
  const verdict = await verify(deps.db, endpoint, delivery, nowMs).catch(
    whenUnavailable(deps, endpoint, requestId),
  );
  if (!verdict.ok) {
    deps.onDelivery?.(provider, 'rejected');
    await deps.refusals.note(refused(endpoint, delivery, verdict.reason), requestId);
    throw refusals.signature;
  }
  deps.refusals.accepted(provider);
  const reading = endpoint.read(delivery);
  if (endpoint.isUnsigned && !(reading.ok && reading.event.isHandled))
    return drop(deps, endpoint, reading, requestId);
  try {
    if (!reading.ok) {
      const deliveryId = `malformed-${digestOf(delivery.body)}`;
      await keep(deps, {
        ...toRow(endpoint, delivery, noOwner),
        deliveryId,
        status: 'failed',
        reason: reading.reason,
      });
      throw refusals.malformed;
    }
    const { event } = reading;
    const location =
      event.isHandled && endpoint.locate ? await endpoint.locate(deps.db, delivery) : null;
    const owner = location?.ok ? location.owner : noOwner;
    const row = {
      ...toRow(endpoint, delivery, owner),
      deliveryId: event.deliveryId,
      eventType: event.eventType,
    };
    if (location?.ok === false) {
      await keep(deps, { ...row, status: 'unattributed', reason: location.reason });
      throw refusals.unlocated ?? refusals.malformed;
    }
    const stored = await keep(deps, { ...row, status: event.isHandled ? 'received' : 'ignored' });
    if (!event.isHandled) return;
    // An earlier try was stored as unattributed. The owner is known by now, so the provider's
    // retry is processed.
    const isRevived = !stored.isNew && stored.status === 'unattributed' && location !== null;
    if (isRevived) await deps.inbox.revive(stored.id, owner);
    if (stored.isNew || isRevived || stored.status === 'received')
      deps.jobs.send(path, stored.id, requestId);
    if (event.problem === undefined) return;
    deps.log.warn(
      { provider, reason: event.problem, requestId },
      'a part of a delivery cannot be understood',
    );
    throw refusals.malformed;
  } catch (error) {
    whenUnavailable(deps, endpoint, requestId)(error);
  }
}

async function verify(
  db: Db,
  endpoint: WebhookEndpoint,
  delivery: RawDelivery,
  nowMs: number,
): Promise<Verdict> {
  const verdict = endpoint.verify(delivery, nowMs);
  return verdict.ok || endpoint.verifyOwner === undefined
    ? verdict
    : endpoint.verifyOwner(db, delivery, verdict);
}

/** Throws the endpoint's refusal when PostgreSQL is unavailable; rethrows any other error. */
const whenUnavailable =
  ({ log }: ReceiveDeps, { provider, refusals }: WebhookEndpoint, requestId: string) =>
  (error: unknown): never => {
    if (refusals.unavailable === undefined || !isDatabaseUnavailable(error)) throw error;
    log.warn({ err: error, requestId, provider }, 'a delivery could not be stored');
    throw refusals.unavailable;
  };

/**
 * Answers and counts an unsigned delivery that has no effect, without storing it: any
 * client can send these.
 */
function drop(
  deps: ReceiveDeps,
  { provider, refusals }: WebhookEndpoint,
  reading: Reading,
  requestId: string,
): void {
  deps.onDelivery?.(provider, reading.ok ? 'ignored' : 'failed');
  if (reading.ok) return;
  deps.log.info(
    { provider, reason: reading.reason, requestId },
    'an unsigned delivery was not stored',
  );
  throw refusals.malformed;
}

async function keep(deps: ReceiveDeps, row: NewDelivery) {
  const stored = await deps.inbox.store(row);
  deps.onDelivery?.(row.provider, stored.isNew ? row.status : 'duplicate');
  return stored;
}

function toRow(
  endpoint: WebhookEndpoint,
  { headers, body }: RawDelivery,
  owner: Owner,
): NewDelivery {
  const { provider, operation } = endpoint;
  return {
    provider,
    deliveryId: '',
    path: operation.path,
    eventType: null,
    headers: keptHeaders(headers),
    body,
    ...owner,
    isSigned: !endpoint.isUnsigned,
    status: 'received',
    reason: null,
  };
}

/** How much of the body of a refused delivery is stored. */
const keptRefusedBytes = 16 * 1024;

/**
 * The row of a refused delivery. Its id is random: a forged delivery must not occupy the id of a
 * later, genuine one.
 */
const refused = (
  endpoint: WebhookEndpoint,
  delivery: RawDelivery,
  reason: string,
): NewDelivery => ({
  ...toRow(endpoint, { ...delivery, body: delivery.body.subarray(0, keptRefusedBytes) }, noOwner),
  deliveryId: `rejected-${randomUUID()}`,
  isSigned: false,
  status: 'rejected',
  reason,
});

export const digestOf = (body: Buffer): string => createHash('sha256').update(body).digest('hex');

const keptNames =
  /^(svix-id|svix-timestamp|webhook-id|webhook-timestamp|x-webhook-(event|batch|payload-version))$/;
const moreNames = /^(x-idempotency-key|x-batch-size|content-type|user-agent)$/;
const longestHeader = 500;

function keptHeaders(headers: RawDelivery['headers']): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of Object.keys(headers)) {
    if (keptNames.test(name) || moreNames.test(name))
      kept[name] = (headerOf(headers, name) ?? '').slice(0, longestHeader);
  }
  return kept;
}
