import type { Actor, Caller } from '@parley/contracts';

/**
 * On whose behalf a caller acts: an API key without a role is the system. A person
 * has no rights here yet.
 */
export function actorOf(caller: Caller): Actor {
  if (caller.type === 'person') return { type: 'user', callerId: caller.id, roles: [] };
  return caller.role === null ? { type: 'system' } : { type: 'user', callerId: caller.id, roles: [caller.role] };
}
