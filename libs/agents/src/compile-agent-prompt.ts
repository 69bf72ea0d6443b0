import type { Author, JsonObject, Scope } from '@parley/contracts';
import type { Db } from '@parley/db';
import type { Tools } from '@parley/tools';
import { loadAgent } from './load-agent';
import { compilePrompt } from './compile-prompt';
import { declaredParams } from './threads/check-params';

export interface CompilePromptRequest {
  slug: string;
  message?: string;
  channel?: string;
  /**
   * Replaces the thread's params: either their fields, or `{ params }` as in a message's
   * `threadContext`.
   */
  threadMetadata?: JsonObject;
  requestId?: string;
  signal?: AbortSignal;
  /** Who compiles it. Events of its tool calls name them. */
  author?: Author;
  /** Called before each tool that the prompt calls. The tool does not run if this rejects. */
  onToolStart?: () => Promise<void>;
}

export type CompiledPrompt =
  | { ok: true; raw: string; compiled: string; context: JsonObject }
  | { ok: false; reason: 'not_found' };

/**
 * Compiles an agent's system prompt as in a conversation, and returns the values it used.
 * Nothing is stored.
 */
export async function compileAgentPrompt(
  deps: { db: Db; tools: Tools },
  scope: Scope,
  request: CompilePromptRequest,
): Promise<CompiledPrompt> {
  const {
    slug,
    message,
    channel = 'api',
    threadMetadata = {},
    requestId,
    signal,
    author,
    onToolStart,
  } = request;
  const loaded = await loadAgent(deps.db, scope, slug);
  if (!loaded.ok) return { ok: false, reason: 'not_found' };
  const agent = loaded.agent.definition;
  const params = declaredParams(agent.threadContextParams, paramsOf(threadMetadata));
  const { compiled, context } = await compilePrompt(deps, scope, {
    agent,
    actor: { type: 'agent', slug, roles: agent.roles ?? [], ...(author && { by: author }) },
    channel,
    params,
    message,
    context: { requestId, agentSlug: slug, channel, params, hops: 0, depth: 0 },
    signal,
    onToolStart,
  });
  return { ok: true, raw: agent.systemPrompt, compiled, context };
}

function paramsOf({ params, ...fields }: JsonObject): JsonObject {
  if (params === undefined) return fields;
  const isNested = typeof params === 'object' && params !== null && !Array.isArray(params);
  return isNested ? { ...fields, ...params } : { ...fields, params };
}
