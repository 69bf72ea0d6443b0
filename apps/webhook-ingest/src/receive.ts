import { createHash, randomUUID } from 'node:crypto';
import { type Db, isDatabaseUnavailable } from '@parley/db';
import type { Logger } from '@parley/service';
import { type DeliveryStatus, type Inbox, type NewDelivery, type Verdict, headerOf } from '@parley/webhooks';
import type { Door, Owner, RawDelivery, Reading } from './door';
import type { JobSender } from './job-sender';
import type { RefusalLog } from './refusal-log';

export interface ReceiveDeps {
  db: Db;
  inbox: Inbox;
  jobs: JobSender;
  refusals: RefusalLog;
  log: Logger;
  /** Told of every delivery; `outcome` is its status, or `duplicate`. */
  onDelivery?: (provider: string, outcome: DeliveryStatus | 'duplicate') => void;
  now?: () => number;
}

const nobody: Owner = { tenant: null, environment: null };

/**
 * The way of every delivery: raw bytes → signature → whose is it → one durable row → job. Resolves when it may be
 * acknowledged, throws the door's refusal otherwise. The job is sent without waiting for Redis: the row is the promise,
 * and the worker's sweep sends what was not.
 */
export async function receive(deps: ReceiveDeps, door: Door, delivery: RawDelivery, requestId: string): Promise<void> {
  const { provider, refusals } = door;
  const { path } = door.operation;
  const nowMs = (deps.now ?? Date.now)();
  const verdict = await verify(deps, door, delivery, nowMs).catch(whenUnavailable(deps, door, requestId));
  if (!verdict.ok) {
    deps.onDelivery?.(provider, 'rejected');
    await deps.refusals.note(refused(door, delivery, verdict.reason), requestId);
    throw refusals.signature;
  }
  deps.refusals.accepted(provider);
  const reading = door.read(delivery);
  if (door.isUnsigned && !(reading.ok && reading.event.isHandled)) return drop(deps, door, reading, requestId);
  try {
    if (!reading.ok) {
      const deliveryId = `malformed-${digestOf(delivery.body)}`;
      await keep(deps, { ...toRow(door, delivery, nobody), deliveryId, status: 'failed', reason: reading.reason });
      throw refusals.malformed;
    }
    const { event } = reading;
    const location = event.isHandled && door.locate ? await door.locate(deps.db, delivery) : null;
    const owner = location?.ok ? location.owner : nobody;
    const row = { ...toRow(door, delivery, owner), deliveryId: event.deliveryId, eventType: event.eventType };
    if (location?.ok === false) {
      await keep(deps, { ...row, status: 'unattributed', reason: location.reason });
      throw refusals.unlocated ?? refusals.malformed;
    }
    const stored = await keep(deps, { ...row, status: event.isHandled ? 'received' : 'ignored' });
    if (!event.isHandled) return;
    // Kept as unattributed before, and its owner is known by now: the provider's retry is its second chance.
    const isRevived = !stored.isNew && stored.status === 'unattributed' && location !== null;
    if (isRevived) await deps.inbox.revive(stored.id, owner);
    if (stored.isNew || isRevived || stored.status === 'received') deps.jobs.send(path, stored.id, requestId);
  } catch (error) {
    whenUnavailable(deps, door, requestId)(error);
  }
}

async function verify({ db }: ReceiveDeps, door: Door, delivery: RawDelivery, nowMs: number): Promise<Verdict> {
  const verdict = door.verify(delivery, nowMs);
  return verdict.ok || door.verifyOwner === undefined ? verdict : door.verifyOwner(db, delivery, verdict);
}

/** Throws what the door answers while PostgreSQL is away; anything else as it is. */
const whenUnavailable =
  ({ log }: ReceiveDeps, { provider, refusals }: Door, requestId: string) =>
  (error: unknown): never => {
    if (refusals.unavailable === undefined || !isDatabaseUnavailable(error)) throw error;
    log.warn({ err: error, requestId, provider }, 'a delivery could not be stored');
    throw refusals.unavailable;
  };

/** What a stranger may have sent and nobody needs: it is answered like any other, and counted, but not stored. */
function drop(deps: ReceiveDeps, { provider, refusals }: Door, reading: Reading, requestId: string): void {
  deps.onDelivery?.(provider, reading.ok ? 'ignored' : 'failed');
  if (reading.ok) return;
  deps.log.info({ provider, reason: reading.reason, requestId }, 'an unsigned delivery was not stored');
  throw refusals.malformed;
}

async function keep(deps: ReceiveDeps, row: NewDelivery) {
  const stored = await deps.inbox.store(row);
  deps.onDelivery?.(row.provider, stored.isNew ? row.status : 'duplicate');
  return stored;
}

function toRow(door: Door, { headers, body }: RawDelivery, owner: Owner): NewDelivery {
  const { provider, operation } = door;
  return {
    provider,
    deliveryId: '',
    path: operation.path,
    eventType: null,
    headers: keptHeaders(headers),
    body,
    ...owner,
    isSigned: !door.isUnsigned,
    status: 'received',
    reason: null,
  };
}

/** More than this of a body that nobody has signed is not kept. */
const keptRefusedBytes = 16 * 1024;

/** Under an id of its own: a stranger must not take that of a delivery that is yet to come. */
const refused = (door: Door, delivery: RawDelivery, reason: string): NewDelivery => ({
  ...toRow(door, { ...delivery, body: delivery.body.subarray(0, keptRefusedBytes) }, nobody),
  deliveryId: `rejected-${randomUUID()}`,
  isSigned: false,
  status: 'rejected',
  reason,
});

export const digestOf = (body: Buffer): string => createHash('sha256').update(body).digest('hex');

const keptNames = /^(svix-id|svix-timestamp|webhook-id|webhook-timestamp|x-webhook-(event|batch|payload-version))$/;
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
