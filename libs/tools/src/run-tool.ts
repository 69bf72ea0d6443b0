import { type Json, type JsonObject, type Scope, findUnstorable } from '@parley/contracts';
import { type Queryable, isDatabaseUnavailable } from '@parley/db';
import { typeOfEntity } from '@parley/entities';
import { isListed, loadPermissions } from '@parley/permissions';
import { denied, failure, notAvailable, notListed } from './failure';
import type { ToolDeps, ToolSource } from './tool';
import type { ToolCall, ToolFailure, ToolResult } from './types';

type Find = ToolSource['find'];

/**
 * The tool ready to start, or the failure. `mayActOutside`: the tool may have effects
 * outside the database.
 */
type Checked =
  | {
      ok: true;
      timeLimitMs: number;
      mayActOutside: boolean;
      start: (signal: AbortSignal) => Promise<ToolResult>;
    }
  | ToolFailure;

const defaultTimeLimitMs = 30_000;

/**
 * Checks the caller's list, the permissions and the arguments, then runs the tool within its time
 * limit (docs/reference/tools.md#how-a-tool-is-called). All calls use this function: calls of
 * agents, templates, triggers, the API and the code of custom tools.
 */
export async function runTool(
  deps: ToolDeps,
  find: Find,
  scope: Scope,
  call: ToolCall,
): Promise<ToolResult> {
  let mayHaveActed = false;
  try {
    call.context.signal?.throwIfAborted();
    const checked = await check(deps, find, scope, call);
    if (!checked.ok) return checked;
    await call.onStart?.();
    mayHaveActed = checked.mayActOutside;
    return await runWithin(checked, call);
  } catch (error) {
    // The owner of the transaction must end it, and needs the cause.
    if (call.tx !== undefined) throw error;
    if (call.context.signal?.aborted) return failure('execution_error', 'The call was aborted');
    const { requestId, threadId } = call.context;
    deps.log.error(
      { err: error, tool: call.name, requestId, threadId, ...scope },
      'tool failed unexpectedly',
    );
    if (!isDatabaseUnavailable(error))
      return failure('execution_error', `${call.name} failed unexpectedly`);
    return {
      ...failure('execution_error', 'The data store is not available now, try again later'),
      isUnavailable: true,
      ...(!mayHaveActed && { isNotDone: true }),
    };
  }
}

async function check(deps: ToolDeps, find: Find, scope: Scope, call: ToolCall): Promise<Checked> {
  const { name, actor, allowed, context } = call;
  const tool = await find(scope, name);
  if (tool === null) return notAvailable('tool_not_found', name);
  const isInList = allowed === null || isListed(allowed, name);
  const notInList = (reason: string) => {
    call.onDecision?.({ allowed: false, reason, policies: [] });
    return notAvailable('permission_denied', name, reason);
  };
  if (!isInList) return notInList(notListed(actor, name));
  if (tool.templateOnly && allowed !== null && context.via !== 'template')
    return notInList('it is templateOnly: prompts and triggers may call it, models may not');

  const db = call.tx ?? deps.db;
  const { needs } = tool;
  const entityType =
    needs.action === 'execute' ? null : await entityTypeOf(db, scope, needs.entityIdIn, call);
  if (entityType === 'not_found') return failure('not_found', 'Entity not found');
  const permissions = await loadPermissions(db, scope, actor);
  // Without a type the arguments are invalid, and are refused below.
  const resource = needs.action === 'execute' ? name : entityType;
  const decision = resource === null ? null : permissions.decide(needs.action, resource);
  if (resource !== null) call.onDecision?.(permissions.explain(needs.action, resource));
  if (decision?.allowed === false) return denied(decision);

  const args = argumentsOf(call.args);
  if (!args.ok) return args;
  const checked = await tool.check(args.value);
  if (!checked.ok) return checked;
  const timeLimitMs = tool.timeLimitMs ?? deps.timeLimitMs ?? defaultTimeLimitMs;
  const permitted = {
    name,
    deps,
    scope,
    actor,
    allowed,
    context,
    tx: call.tx,
    db,
    permissions,
    entityType,
    timeLimitMs,
  };
  return {
    ok: true,
    timeLimitMs,
    mayActOutside: tool.sideEffects && !tool.transactional,
    start: (signal) => checked.run({ ...permitted, signal }),
  };
}

/**
 * The entity type of a call: the given `type`, else the type of the given entity; null when the
 * arguments have neither.
 */
async function entityTypeOf(
  db: Queryable,
  scope: Scope,
  entityIdIn: string | undefined,
  { args }: ToolCall,
): Promise<string | 'not_found' | null> {
  const given = (typeof args === 'object' && args !== null ? args : {}) as Record<string, unknown>;
  if (typeof given.type === 'string') return given.type;
  const id = entityIdIn === undefined ? undefined : given[entityIdIn];
  if (typeof id !== 'string' || findUnstorable(id) !== null) return null;
  return (await typeOfEntity(db, scope, id)) ?? 'not_found';
}

function argumentsOf(args: unknown): { ok: true; value: JsonObject } | ToolFailure {
  const value = args ?? {};
  if (typeof value !== 'object' || Array.isArray(value)) {
    return failure('invalid_arguments', 'Invalid arguments: expected a JSON object');
  }
  const problem = findUnstorable(value);
  if (problem === null) return { ok: true, value: value as Record<string, Json> };
  return failure(
    'invalid_arguments',
    `Invalid arguments: ${problem.path || 'a value'} ${problem.message}`,
  );
}

/** Returns the result, or a failure at the time limit or when the caller's signal is aborted. */
async function runWithin(
  { timeLimitMs, start }: Extract<Checked, { ok: true }>,
  call: ToolCall,
): Promise<ToolResult> {
  const limit = new AbortController();
  const outer = call.context.signal;
  // The caller may have aborted during the checks: a signal that is aborted already sends no event.
  outer?.throwIfAborted();
  const signal = outer ? AbortSignal.any([limit.signal, outer]) : limit.signal;
  const { promise: ended, resolve: end } = Promise.withResolvers<ToolResult>();
  signal.addEventListener('abort', () => {
    end(
      limit.signal.aborted
        ? failure('timeout', `${call.name} did not finish within ${timeLimitMs / 1000} s`)
        : failure('execution_error', 'The call was aborted'),
    );
  });
  const timer = setTimeout(() => limit.abort(), timeLimitMs);
  try {
    return await Promise.race([start(signal), ended]);
  } finally {
    clearTimeout(timer);
  }
}
