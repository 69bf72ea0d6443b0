import { reportRefusal } from '@parley/contracts';
import { createSlots } from '@parley/outbound';
import { rateLimited } from './errors';
import type { CallerContext } from './exchange';

export interface RequestQueue {
  /** Requests that the process answers at the same time. */
  total: number;
  /** Requests of an organization that wait for its others. */
  waiting: number;
  waitMs: number;
  code: string;
  message: string;
}

/**
 * Answers the requests of an organization one at a time. Returns a function that wraps their
 * handlers. A request that finds too many others waiting, or waits too long, is answered with 429
 * and this `code`, which is also its label in the metric `limit_refusals_total`.
 */
export function queueRequests({ total, waiting, waitMs, code, message }: RequestQueue) {
  const slots = createSlots({ total, perKey: 1 });
  /** The number of requests by organization, the running one included. */
  const present = new Map<string, number>();

  const refused = () => {
    reportRefusal(code);
    return rateLimited(Date.now() + 1_000, code, message);
  };
  const enter = (key: string) => {
    const others = present.get(key) ?? 0;
    if (others > waiting) throw refused();
    present.set(key, others + 1);
  };
  const leave = (key: string) => {
    const others = present.get(key)! - 1;
    if (others === 0) present.delete(key);
    else present.set(key, others);
  };

  return <I, A>(handler: (input: I, context: CallerContext) => Promise<A>) =>
    async (input: I, context: CallerContext): Promise<A> => {
      const key = String(context.scope.tenant);
      enter(key);
      try {
        const release = await slots.acquire(key, context.signal, waitMs);
        if (release === null) throw refused();
        try {
          return await handler(input, context);
        } finally {
          release();
        }
      } finally {
        leave(key);
      }
    };
}
