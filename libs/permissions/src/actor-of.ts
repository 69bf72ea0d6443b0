import type { Actor, AgentDefinition, Author, Caller } from '@parley/contracts';

/**
 * The actor of a caller's requests (docs/reference/permissions.md#actors). An API key without a
 * role acts as the system.
 */
export function actorOf(caller: Caller): Actor {
  if (caller.type === 'person') return { type: 'person', id: caller.id };
  return caller.role === null
    ? { type: 'system' }
    : { type: 'user', callerId: caller.id, roles: [caller.role] };
}

/**
 * Whether a caller sees every conversation. Any other reads only the executions that it has
 * started, without prompts, arguments and results, and continues only threads of the API
 * (docs/reference/chat.md#threads).
 */
export const seesAll = (caller: Caller): boolean =>
  caller.type === 'person' || (caller.permissions.has('manage') && caller.role === null);

/**
 * The lists of roles that restrict an actor. Each list must allow an operation
 * (docs/adr/0041). None: the actor is the system, a webhook, a person, or an agent without
 * roles whose callers have none.
 */
export function roleListsOf(actor: Actor): string[][] {
  if (actor.type === 'user') return [actor.roles];
  if (actor.type === 'tool') return actor.roles;
  if (actor.type !== 'agent') return [];
  return [...(actor.roles.length === 0 ? [] : [actor.roles]), ...(actor.within ?? [])];
}

/**
 * The actor of an agent that acts for a caller, if it has one: for the same person, and for what
 * the roles of both allow.
 */
export function agentActor(
  { slug, roles = [] }: Pick<AgentDefinition, 'slug' | 'roles'>,
  caller?: Actor,
) {
  const within = caller === undefined ? [] : roleListsOf(caller);
  const {
    userId,
    entityId,
    by = authorOf(caller),
    bySystem = caller?.type === 'system' || (caller?.type === 'tool' && within.length === 0),
  } = (caller ?? {}) as Partial<AgentActor>;
  return {
    type: 'agent',
    slug,
    roles,
    ...(within.length > 0 && { within }),
    ...(bySystem && roles.length === 0 && { bySystem }),
    ...(by !== undefined && { by }),
    ...(userId !== undefined && { userId }),
    ...(entityId !== undefined && { entityId }),
  } satisfies AgentActor;
}

/** The person for whom an actor acts. */
function authorOf(actor: Actor | undefined): Author | undefined {
  if (actor?.type === 'person') return { type: 'person', id: actor.id };
  if (actor?.type === 'tool') return authorOf(actor.calledBy);
  return actor?.type === 'agent' || actor?.type === 'system' ? actor.by : undefined;
}

type AgentActor = Extract<Actor, { type: 'agent' }>;
