import { reportRefusal } from '@parley/contracts';
import { createSlots } from '@parley/outbound';
import { type CallerContext, onClosed, rateLimited } from '@parley/service';

const waitMs = 10_000;
/** Texts and files of up to 10 MiB that a process reads and sends at the same time. */
const slots = createSlots({ total: 6 });

/**
 * Waits for a place among the requests that read a text or file of megabytes, and holds it until
 * the client has read the answer. Throws when none becomes free in time.
 */
export async function holdLargeRead({ scope, signal, response }: CallerContext): Promise<void> {
  const release = await slots.acquire(String(scope.tenant), signal, waitMs);
  if (release !== null) {
    onClosed(response, release);
    return;
  }
  reportRefusal('too_many_large_reads');
  const message = 'Other large texts and files of the organization are being read';
  throw rateLimited(Date.now() + 1_000, 'too_many_large_reads', message);
}
