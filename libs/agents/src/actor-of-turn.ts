import type { Actor, AgentDefinition, Scope } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import { findOnlyByPhone } from '@parley/entities';
import { agentActor } from '@parley/permissions';
import type { ChatRequest } from './chat-result';

/**
 * The actor for which the prompt and the tool calls of a turn are checked (docs/reference/permissions.md#actors). An agent that
 * lists roles acts by them on every channel, and within the roles of its callers. Without any of these it acts as the system
 * on a channel and when the system asks it.
 */
export async function actorOfTurn(
  db: Queryable,
  scope: Scope,
  { request, agent }: { request: ChatRequest; agent: AgentDefinition },
): Promise<Actor> {
  const { contact, onBehalfOf, within = [] } = request;
  const actor = agentActor(agent, within);
  const isRestricted = actor.roles.length > 0 || within.length > 0;
  const isSystem = request.bySystem ?? contact !== undefined;
  if (!isRestricted && isSystem) return { type: 'system' };
  if (contact === undefined) return { ...actor, ...onBehalfOf };
  const { id: userId, phoneNumber, entityType } = contact;
  const entityId =
    phoneNumber === null || entityType === null ? null : await findOnlyByPhone(db, scope, phoneNumber, entityType);
  return { ...actor, userId, ...(entityId !== null && { entityId }) };
}
