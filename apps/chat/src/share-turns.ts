import { reportRefusal } from '@parley/contracts';
import { createSlots } from '@parley/outbound';
import { type CallerContext, rateLimited } from '@parley/service';

/** Default of CHAT_MAX_TURNS. */
const maxTurnsOfProcess = 256;

/**
 * Shares the requests that a process answers at the same time among organizations (docs/adr/0038). A request takes as long
 * as its model and tools, or as the turns before it, so one organization must not hold them all.
 */
export function shareTurns(total = maxTurnsOfProcess) {
  const slots = createSlots({ total });
  return <I, A>(handler: (input: I, context: CallerContext) => Promise<A>) =>
    async (input: I, context: CallerContext): Promise<A> => {
      const release = slots.tryAcquire(String(context.scope.tenant));
      if (release === null) {
        reportRefusal('too_many_turns');
        const message = 'Too many requests of the organization are being answered at the same time';
        throw rateLimited(Date.now() + 1_000, 'too_many_turns', message);
      }
      try {
        return await handler(input, context);
      } finally {
        release();
      }
    };
}
