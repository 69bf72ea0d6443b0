import type { AgentDefinition, JsonObject, Scope } from '@parley/contracts';
import type { Db } from '@parley/db';
import { readEntityTypes } from '@parley/entities';
import { findOrganizationName } from '@parley/identity';
import { listRoles } from '@parley/permissions';
import { localDay } from './local-day';

export interface PromptSubject {
  agent: AgentDefinition;
  /** `api`, `whatsapp`, `widget` or `dashboard`. */
  channel: string;
  params: JsonObject;
  threadId?: string;
  message?: string;
  now?: Date;
}

/**
 * Loads the variables of a prompt (docs/reference/prompts.md#values). Some are loaded only when
 * it mentions them.
 */
export async function loadPromptVariables(
  db: Db,
  scope: Scope,
  subject: PromptSubject,
): Promise<JsonObject> {
  const { agent, channel, params, threadId, message, now = new Date() } = subject;
  const mentions = (name: string) => agent.systemPrompt.includes(name);
  const [found, entityTypes, roles] = await Promise.all([
    findOrganizationName(db, scope.organizationId),
    mentions('entityTypes') ? readEntityTypes(db, scope) : null,
    mentions('roles') ? listRoles(db, scope) : null,
  ]);
  const organization = found ?? { name: '', timezone: 'UTC' };
  const { systemPrompt: _, ...shownAgent } = agent;
  return {
    ...localDay(now, organization.timezone),
    currentTime: now.toISOString(),
    timestamp: now.getTime(),
    organizationName: organization.name,
    agentName: agent.name,
    agent: shownAgent as JsonObject,
    threadContext: { channel, params },
    ...(threadId !== undefined && { threadId }),
    ...(message !== undefined && { message }),
    ...(entityTypes !== null && { entityTypes }),
    ...(roles !== null && { roles }),
  };
}
