import type { ServerResponse } from 'node:http';
import { reportRefusal } from '@parley/contracts';
import { createSlots } from '@parley/outbound';
import { rateLimited } from './errors';
import { onClosed } from './on-closed';

/** Smaller answers are in the buffers of the connection at once. */
const smallBytes = 64 * 1_024;
/** Maximum size of the answers that the clients of a process have not read. */
const maxUnreadBytes = 128 * 1_048_576;

/**
 * The answers that a process holds because their clients read slowly, with a share for each
 * organization: the connections of one organization could otherwise hold a page of megabytes each.
 */
export function createUnreadAnswers({ maxBytes = maxUnreadBytes }: { maxBytes?: number } = {}) {
  const slots = createSlots({ total: maxBytes });
  return {
    /**
     * Counts an answer until its client has read it. Throws when the organization has
     * too many of them.
     */
    hold(response: ServerResponse, organization: string, bytes: number): void {
      if (bytes <= smallBytes) return;
      const release = slots.tryAcquire(organization, bytes);
      if (release === null) {
        reportRefusal('unread_answers');
        throw rateLimited(
          Date.now() + 1_000,
          'unread_answers',
          'Too many large answers of the organization are unread',
        );
      }
      onClosed(response, release);
    },
  };
}
