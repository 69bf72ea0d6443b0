import type { Actor, AgentDefinition, Scope } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import { findOnlyByPhone } from '@parley/entities';
import type { ChatRequest } from './chat-result';

/**
 * The actor for which the prompt and the tool calls of a turn are checked (docs/reference/permissions.md#actors). An agent that
 * lists roles acts by them on every channel. Without roles it acts as the system on a channel, unless another agent called it.
 */
export async function actorOfTurn(
  db: Queryable,
  scope: Scope,
  { request, agent }: { request: ChatRequest; agent: AgentDefinition },
): Promise<Actor> {
  const { slug, roles = [] } = agent;
  const { contact, onBehalfOf, depth = 0 } = request;
  if (contact === undefined) return { type: 'agent', slug, roles, ...onBehalfOf };
  const { id: userId, phoneNumber, entityType } = contact;
  if (roles.length === 0) return depth === 0 ? { type: 'system' } : { type: 'agent', slug, roles, userId };
  const entityId =
    phoneNumber === null || entityType === null ? null : await findOnlyByPhone(db, scope, phoneNumber, entityType);
  return { type: 'agent', slug, roles, userId, ...(entityId !== null && { entityId }) };
}
