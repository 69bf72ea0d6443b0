import type { AgentDefinition, JsonObject, Scope } from '@parley/contracts';
import type { Db } from '@parley/db';
import { readEntityTypes } from '@parley/entities';
import { listRoles } from '@parley/permissions';
import { localDay } from './local-day';

export interface PromptSubject {
  agent: AgentDefinition;
  /** api, whatsapp, widget or dashboard. */
  channel: string;
  params: JsonObject;
  threadId?: string;
  message?: string;
  now?: Date;
}

/**
 * The variables of an agent's prompt. One query, and one more each for `entityTypes` and `roles`, only when the prompt
 * names them.
 */
export async function loadPromptVariables(db: Db, scope: Scope, subject: PromptSubject): Promise<JsonObject> {
  const { agent, channel, params, threadId, message, now = new Date() } = subject;
  const mentions = (name: string) => agent.systemPrompt.includes(name);
  const [organization, entityTypes, roles] = await Promise.all([
    organizationOf(db, scope),
    mentions('entityTypes') ? readEntityTypes(db.pool, scope) : null,
    mentions('roles') ? listRoles(db.pool, scope) : null,
  ]);
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

async function organizationOf(db: Db, scope: Scope): Promise<{ name: string; timezone: string }> {
  const { rows } = await db.pool.query<{ name: string; timezone: string }>({
    name: 'prompt-organization',
    text: 'select name, timezone from organizations where id = $1',
    values: [scope.organizationId],
  });
  return rows[0] ?? { name: '', timezone: 'UTC' };
}
