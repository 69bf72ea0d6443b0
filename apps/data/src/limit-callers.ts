import type { Caller } from '@parley/contracts';
import type { RateLimiter } from '@parley/redis';

type Limited = Pick<Caller, 'type' | 'id' | 'organizationId'>;
export type CallerLimiter = ReturnType<typeof limitCallers>;

/**
 * Counts the requests of people and those of API keys separately, so that people do not use up what
 * programs may send.
 */
export function limitCallers({ keys, people }: { keys: RateLimiter; people: RateLimiter }) {
  const limiterOf = ({ type }: Limited) => (type === 'person' ? people : keys);
  return {
    blockedUntil: (caller: Limited) => limiterOf(caller).blockedUntil(caller),
    admit: (caller: Limited) => limiterOf(caller).admit(caller),
    close() {
      keys.close();
      people.close();
    },
  };
}
