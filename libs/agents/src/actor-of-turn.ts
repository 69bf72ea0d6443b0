import type { Actor, AgentDefinition, Scope } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import { findOnlyByPhone } from '@parley/entities';
import { agentActor } from '@parley/permissions';
import type { ChatRequest } from './chat-result';

/**
 * The actor for which the prompt and the tool calls of a turn are checked
 * (docs/reference/permissions.md#actors). An agent that lists roles acts by them on every channel,
 * and within the roles of its callers. Without any of these it acts as the system on a channel,
 * unless another agent called it.
 */
export async function actorOfTurn(
  db: Queryable,
  scope: Scope,
  { request, agent }: { request: ChatRequest; agent: AgentDefinition },
): Promise<Actor> {
  const { contact, caller, depth = 0 } = request;
  const actor = agentActor(agent, caller);
  const isRestricted = actor.roles.length > 0 || actor.within !== undefined;
  if (contact !== undefined && depth === 0 && !isRestricted) return { type: 'system' };
  if (contact === undefined) return actor;
  const { id: userId, phoneNumber, entityType } = contact;
  // Only scope rules, and messages of restricted agents, depend on the entity.
  if (!isRestricted || phoneNumber === null || entityType === null) return { ...actor, userId };
  const entityId = await findOnlyByPhone(db, scope, phoneNumber, entityType);
  return { ...actor, userId, ...(entityId !== null && { entityId }) };
}
