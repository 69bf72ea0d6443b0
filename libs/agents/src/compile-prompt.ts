import type { Actor, AgentDefinition, JsonObject, Scope } from '@parley/contracts';
import type { Db } from '@parley/db';
import {
  type ToolContext,
  type Tools,
  compileTemplate,
  loadPromptVariables,
  templateCaller,
} from '@parley/tools';

export interface PromptRequest {
  agent: AgentDefinition;
  actor: Actor;
  channel: string;
  params: JsonObject;
  message?: string;
  threadId?: string;
  context: ToolContext;
  signal?: AbortSignal;
  /** Called before each tool that the prompt calls. */
  onToolStart?: () => Promise<void>;
}

export interface Prompt {
  compiled: string;
  /** The values that the prompt used, by their names in the template. */
  context: JsonObject;
}

/**
 * Compiles an agent's system prompt. Its tool calls are checked for the actor
 * (docs/reference/prompts.md#syntax).
 */
export async function compilePrompt(
  { db, tools }: { db: Db; tools: Tools },
  scope: Scope,
  request: PromptRequest,
): Promise<Prompt> {
  const { agent, actor, channel, params, message, threadId, context, signal, onToolStart } =
    request;
  const raw = agent.systemPrompt;
  if (!raw.includes('{{')) return { compiled: raw, context: {} };
  const variables = await loadPromptVariables(db, scope, {
    agent,
    channel,
    params,
    message,
    threadId,
  });
  const call = templateCaller(tools, scope, {
    actor,
    allowed: agent.tools ?? [],
    context,
    onStart: onToolStart,
  });
  const { text, variables: used } = await compileTemplate(raw, { variables, call, signal });
  return { compiled: text, context: used };
}
