import type { Actor, Caller } from '@parley/contracts';

/** The actor of a caller's requests. An API key without a role acts as the system. A person has no roles yet. */
export function actorOf(caller: Caller): Actor {
  if (caller.type === 'person') return { type: 'user', callerId: caller.id, roles: [] };
  return caller.role === null ? { type: 'system' } : { type: 'user', callerId: caller.id, roles: [caller.role] };
}
