import type { IncomingMessage } from 'node:http';
import { reportRefusal } from '@parley/contracts';
import { createSlots } from '@parley/outbound';
import { numberVariable } from '../process/config';
import { rateLimited } from './errors';

/** Bodies up to this size do not count. */
const smallBytes = 64 * 1024;
const waitMs = 10_000;
/** Requests of an organization that wait: each occupies a connection of the gateway. */
const maxWaiting = 64;

/** The variable of services that receive large bodies. */
export const largeBodyVariables = (defaultMib: number) => ({
  LARGE_BODIES_MIB: numberVariable(defaultMib, 16).meta({
    description:
      'Bodies larger than 64 KiB that a process reads and handles at the same time, in MiB together. A request needs a few times the size of its body. One organization uses at most two thirds.',
  }),
});

export type BodyMemory = ReturnType<typeof createBodyMemory>;

/**
 * The bodies that a process reads and handles at the same time, by their size. Organizations
 * have shares (libs/outbound createSlots). A request waits before its body is read: meanwhile
 * the gateway has it.
 */
export function createBodyMemory({ LARGE_BODIES_MIB: totalMib }: { LARGE_BODIES_MIB: number }) {
  const slots = createSlots({ total: totalMib * 1024 * 1024 });
  const places = createSlots({ perKey: maxWaiting });

  async function waitForMemory(
    organization: string,
    size: number,
    signal: AbortSignal,
  ): Promise<(() => void) | null> {
    const leave = places.tryAcquire(organization);
    if (leave === null) return null;
    try {
      return await slots.acquire(organization, signal, waitMs, size);
    } finally {
      leave();
    }
  }

  return {
    /**
     * Waits for its turn to read a body. Returns the function that ends the request's use of
     * memory, undefined for a small body. Rejects with 429 after a wait of 10 s. `organization`:
     * its key in the shares; all requests without a caller have one.
     */
    async take(
      { headers }: IncomingMessage,
      {
        organization,
        limitBytes,
        signal,
      }: { organization: string; limitBytes: number; signal: () => AbortSignal },
    ): Promise<(() => void) | undefined> {
      // A chunked body, which the gateway does not send, may be as large as the limit.
      const size =
        headers['transfer-encoding'] === undefined
          ? Number(headers['content-length'] ?? 0)
          : limitBytes;
      // A body beyond the limit is refused by its reader.
      if (size <= smallBytes || size > limitBytes) return undefined;
      const release =
        slots.tryAcquire(organization, size) ?? (await waitForMemory(organization, size, signal()));
      if (release !== null) return release;
      if (!signal().aborted) reportRefusal('large_bodies');
      throw rateLimited(
        Date.now() + 2_000,
        'too_many_large_bodies',
        'Too many large requests of the organization are being handled at the same time',
      );
    },
  };
}
