import { reportRefusal } from '@parley/contracts';
import { createSlots } from '@parley/outbound';
import { rateLimited } from './errors';
import type { CallerContext } from './exchange';

/**
 * Shares the requests that a process answers at the same time among organizations (docs/adr/0038):
 * one organization must not hold all places of slow endpoints. Returns a function that wraps their
 * handlers. A request beyond the share of its organization is answered with 429 and this `code`,
 * which is also its label in the metric `limit_refusals_total`.
 */
export function shareRequests({
  total,
  code,
  message,
}: {
  total: number;
  code: string;
  message: string;
}) {
  const slots = createSlots({ total });
  return <I, A>(handler: (input: I, context: CallerContext) => Promise<A>) =>
    async (input: I, context: CallerContext): Promise<A> => {
      const release = slots.tryAcquire(String(context.scope.tenant));
      if (release === null) {
        reportRefusal(code);
        throw rateLimited(Date.now() + 1_000, code, message);
      }
      try {
        return await handler(input, context);
      } finally {
        release();
      }
    };
}
