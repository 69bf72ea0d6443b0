import type { Actor, Caller } from '@parley/contracts';

/** The actor of a caller's requests (docs/reference/permissions.md#actors). An API key without a role acts as the system. */
export function actorOf(caller: Caller): Actor {
  if (caller.type === 'person') return { type: 'user', callerId: caller.id, roles: [] };
  return caller.role === null ? { type: 'system' } : { type: 'user', callerId: caller.id, roles: [caller.role] };
}
