import {
  type Actor,
  type JsonObject,
  type Scope,
  type ToolDefinition,
  executorLimits,
  systemRunAs,
} from '@parley/contracts';
import { loadPermissions, mayKnow } from '@parley/permissions';
import { failure } from '../failure';
import type { PermittedCall } from '../tool';
import type { CallbackGrant, ToolContext, ToolFailure, ToolResult } from '../types';
import { readToolSecrets } from './tool-secrets';

/** Part of a call's time limit that is reserved for the answer of the executor to arrive. */
const answerMs = 1_000;

/** Runs the handler of a custom tool in the tool executor. The arguments are already checked. */
export async function runCustomTool(
  definition: ToolDefinition,
  args: JsonObject,
  { deps, scope, actor, allowed, context, signal, timeLimitMs }: PermittedCall,
): Promise<ToolResult> {
  if (deps.executor === undefined)
    return failure('execution_error', 'Custom tools cannot run here: no tool executor');
  const nesting = context.nesting ?? 0;
  if (nesting >= executorLimits.maxCallbackDepth) {
    return failure(
      'execution_error',
      `Custom tools may call each other at most ${executorLimits.maxCallbackDepth} deep`,
    );
  }
  const acting = await actingFor(definition, { deps, scope, actor, allowed, context });
  if (!acting.ok) return acting;
  const secrets = definition.secrets?.length
    ? await secretsOf(definition, definition.secrets, { deps, scope, actor })
    : null;
  if (secrets?.ok === false) return secrets;
  const timeoutMs = Math.max(1, Math.min(timeLimitMs - answerMs, executorLimits.maxTimeoutMs));
  const { signal: _signal, via: _via, ...inherited } = context;
  const grant: CallbackGrant = {
    actor: acting.actor,
    allowed: acting.allowed,
    context: {
      ...inherited,
      nesting: nesting + 1,
      ...(acting.runAs.length > 0 && { runAs: acting.runAs }),
    },
    expiresInMs: timeoutMs + answerMs,
  };
  const token = await deps.ports.mintCallbackToken?.(scope, grant);
  const answer = await deps.executor.execute(
    {
      handlerCode: definition.handlerCode,
      args,
      context: handlerContext(scope, actor, context),
      ...(definition.allowedHosts !== undefined && { allowedHosts: definition.allowedHosts }),
      ...(secrets !== null && { secrets: secrets.values }),
      timeoutMs,
      ...(token !== undefined && { callback: { token, depth: nesting } }),
    },
    { requestId: context.requestId, signal },
  );
  if (answer.ok) return answer;
  switch (answer.reason) {
    case 'failed':
      return {
        ...failure('execution_error', answer.message),
        ...(answer.logs && { logs: answer.logs }),
      };
    case 'timeout':
      return failure('timeout', answer.message);
    case 'busy':
    case 'away':
    case 'unreachable':
    case 'refused':
      deps.log.error(
        { tool: definition.name, reason: answer.reason, detail: answer.message },
        'tool executor failed',
      );
      return {
        ...failure(
          'execution_error',
          answer.reason === 'busy' ? answer.message : 'The tool executor is not available',
        ),
        ...((answer.reason === 'busy' || answer.reason === 'away') && { isNotDone: true }),
      };
  }
}

/**
 * As whom the code of a tool calls other tools: as its caller, or with `runAs` as the system or a
 * role, for which the caller's list of tools does not hold. Inside of another tool with a role,
 * both roles must allow what it does (docs/adr/0047).
 */
async function actingFor(
  { name, runAs }: ToolDefinition,
  {
    deps,
    scope,
    actor,
    allowed,
    context,
  }: Pick<PermittedCall, 'deps' | 'scope' | 'actor' | 'allowed' | 'context'>,
): Promise<
  | { ok: true; actor: Actor; allowed: readonly string[] | null; runAs: readonly string[] }
  | ToolFailure
> {
  const outer = context.runAs ?? [];
  if (runAs === undefined) return { ok: true, actor, allowed, runAs: outer };
  const chain = runAs === systemRunAs || outer.includes(runAs) ? outer : [...outer, runAs];
  const { userId, entityId } = actor as { userId?: string; entityId?: string };
  const acting: Actor = {
    type: 'tool',
    name,
    runAs,
    roles: chain.map((role) => [role]),
    calledBy: actor.type === 'tool' ? actor.calledBy : actor,
    ...(userId !== undefined && { userId }),
    ...(entityId !== undefined && { entityId }),
  };
  const { roles } = await loadPermissions(deps.db, scope, acting);
  const missing = chain.find((slug) => !roles?.some((role) => role.slug === slug));
  if (missing === undefined) return { ok: true, actor: acting, allowed: null, runAs: chain };
  return {
    ...failure('execution_error', `${name} runs as a role that does not exist`),
    ...(mayKnow(actor) && {
      reason: `the role "${missing}" does not exist. Push the role, or change runAs`,
    }),
  };
}

/** The values of a tool's secrets, or a failure whose reason names those that it cannot have. */
async function secretsOf(
  { name }: ToolDefinition,
  declared: readonly string[],
  { deps: { db, box }, scope, actor }: Pick<PermittedCall, 'deps' | 'scope' | 'actor'>,
): Promise<{ ok: true; values: Record<string, string> } | ToolFailure> {
  if (box === undefined)
    return failure('execution_error', `${name} has secrets, which this process cannot decrypt`);
  const { values, missing, unreadable } = await readToolSecrets(db, box, scope, declared);
  const refuse = (names: string[], message: string, problem: string) => {
    const commands = names.map((secret) => `parley tool-secrets set ${secret} -`).join(', ');
    return {
      ...failure('execution_error', `${name} needs a secret ${message}`),
      ...(mayKnow(actor) && { reason: `${problem}: ${commands}` }),
    };
  };
  if (missing.length > 0)
    return refuse(
      missing,
      'that is not set',
      `${missing.join(', ')} is not set in ${scope.environment}. Set it with`,
    );
  if (unreadable.length > 0)
    return refuse(
      unreadable,
      'that cannot be decrypted',
      `no key in SECRETS_KEY decrypts ${unreadable.join(', ')}. Add that key, or set it again with`,
    );
  return { ok: true, values };
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
