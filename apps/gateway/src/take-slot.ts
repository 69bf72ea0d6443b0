import type { ServerResponse } from 'node:http';
import { reportRefusal } from '@parley/contracts';
import type { Slots } from '@parley/outbound';
import { rateLimited } from '@parley/service';
import { ClientDisconnected } from './request-body';

/** A caller that sends a burst waits for its own requests. */
const defaultWaitMs = 10_000;

/**
 * Takes one of the connections to a service and returns the function that gives it back. No caller
 * takes all of them: it waits for those that it has, and gets 429 after `waitMs`.
 */
export function takeSlot(
  slots: Slots,
  caller: string,
  response: ServerResponse,
  waitMs = defaultWaitMs,
): (() => void) | Promise<() => void> {
  return slots.tryAcquire(caller) ?? waitForSlot(slots, caller, response, waitMs);
}

async function waitForSlot(
  slots: Slots,
  caller: string,
  response: ServerResponse,
  waitMs: number,
): Promise<() => void> {
  const closed = new AbortController();
  const onClose = () => closed.abort();
  response.once('close', onClose);
  const release = await slots.acquire(caller, closed.signal, waitMs);
  response.off('close', onClose);
  if (release !== null) return release;
  if (closed.signal.aborted) throw new ClientDisconnected('The client closed the connection');
  reportRefusal('concurrent_requests');
  throw rateLimited(
    Date.now() + 1_000,
    'too_many_concurrent_requests',
    'Too many requests of the caller are being answered at the same time',
  );
}
