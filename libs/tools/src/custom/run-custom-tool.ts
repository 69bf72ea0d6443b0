import { type Actor, type JsonObject, type Scope, type ToolDefinition, executorLimits } from '@parley/contracts';
import { failure } from '../failure';
import type { PermittedCall } from '../tool';
import type { CallbackGrant, ToolContext, ToolResult } from '../types';

/** Part of a call's time limit that is reserved for the answer of the executor to arrive. */
const answerMs = 1_000;

/** Runs the handler of a custom tool in the tool executor. The arguments are already checked. */
export async function runCustomTool(
  definition: ToolDefinition,
  args: JsonObject,
  { deps, scope, actor, allowed, context, signal, timeLimitMs }: PermittedCall,
): Promise<ToolResult> {
  if (deps.executor === undefined) return failure('execution_error', 'Custom tools cannot run here: no tool executor');
  const nesting = context.nesting ?? 0;
  if (nesting >= executorLimits.maxCallbackDepth) {
    return failure(
      'execution_error',
      `Custom tools may call each other at most ${executorLimits.maxCallbackDepth} deep`,
    );
  }
  const timeoutMs = Math.max(1, Math.min(timeLimitMs - answerMs, executorLimits.maxTimeoutMs));
  const { signal: _signal, via: _via, ...inherited } = context;
  const grant: CallbackGrant = {
    actor,
    allowed,
    context: { ...inherited, nesting: nesting + 1 },
    expiresInMs: timeoutMs + answerMs,
  };
  const token = await deps.ports.mintCallbackToken?.(scope, grant);
  const answer = await deps.executor.execute(
    {
      handlerCode: definition.handlerCode,
      args,
      context: handlerContext(scope, actor, context),
      ...(definition.allowedHosts !== undefined && { allowedHosts: definition.allowedHosts }),
      timeoutMs,
      ...(token !== undefined && { callback: { token, depth: nesting } }),
    },
    { requestId: context.requestId, signal },
  );
  if (answer.ok) return answer;
  switch (answer.reason) {
    case 'failed':
      return { ...failure('execution_error', answer.message), ...(answer.logs && { logs: answer.logs }) };
    case 'timeout':
      return failure('timeout', answer.message);
    case 'busy':
    case 'away':
    case 'unreachable':
    case 'refused':
      deps.log.error({ tool: definition.name, reason: answer.reason, detail: answer.message }, 'tool executor failed');
      return {
        ...failure('execution_error', answer.reason === 'busy' ? answer.message : 'The tool executor is not available'),
        ...((answer.reason === 'busy' || answer.reason === 'away') && { isNotDone: true }),
      };
  }
}

/** The data about the caller that a handler receives. */
function handlerContext(scope: Scope, actor: Actor, context: ToolContext): JsonObject {
  const { threadId, agentSlug, channel, params } = context;
  return {
    organizationId: scope.organizationId,
    environment: scope.environment,
    actor: {
      type: actor.type,
      ...('userId' in actor && actor.userId !== undefined && { userId: actor.userId }),
      ...('entityId' in actor && actor.entityId !== undefined && { entityId: actor.entityId }),
    },
    ...(threadId !== undefined && { threadId }),
    ...(agentSlug !== undefined && { agentSlug }),
    ...(channel !== undefined && { channel }),
    ...(params !== undefined && { params }),
  };
}
