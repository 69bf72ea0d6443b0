import {
  type BegunExecution,
  type ExecutionRequest,
  beginExecution,
  cancelExecution,
} from '@parley/agents';
import type { Db } from '@parley/db';
import { actorOf, seesAll } from '@parley/permissions';
import type { ExecutionChunks, Queues } from '@parley/redis';
import {
  type CallerContext,
  type Handler,
  badRequest,
  conflict,
  missingPermission,
  notFound,
} from '@parley/service';
import { type VisibleExecution, executionOf, usageOf } from '../visible-execution';
import { type ExecutionWaits, waitForExecution } from '../wait-for-execution';
import type { SendExecution } from './stream-execution';

interface Handlers {
  startExecution: Handler<'startExecution'>;
  cancelExecution: Handler<'cancelExecution'>;
}

const toStarted = (execution: VisibleExecution) => ({
  executionId: execution.id,
  threadId: execution.threadId,
  status: execution.status,
  reply: execution.output,
  finishReason: execution.finishReason,
  usage: usageOf(execution),
});

export interface StartDeps {
  db: Db;
  queues: Queues;
  executionChunks: Pick<ExecutionChunks, 'ring'>;
}

export const createStartExecutionHandlers = (
  { db, queues, executionChunks }: StartDeps,
  sendStream: SendExecution,
  waits: ExecutionWaits,
): Handlers => ({
  async startExecution({ body }, context) {
    const { caller, request, response } = context;
    const {
      agentSlug,
      agentId,
      routerSlug,
      threadContext,
      channel = 'api',
      model,
      ...message
    } = body;
    if ((channel !== 'api' || model !== undefined) && !seesAll(caller))
      throw missingPermission('manage');
    const actor = actorOf(caller);
    const isStream = request.headers.accept?.includes('text/event-stream') === true;
    const waitSeconds = isStream ? 0 : preferredWait(request.headers.prefer);
    // A stream or a wait that would be refused begins no turn.
    const leave = isStream || waitSeconds > 0 ? waits.streams.admit(caller) : undefined;
    const { executionId } = await beginInBackground({ db, queues }, context, {
      ...message,
      channel,
      model,
      params: threadContext?.params,
      agent:
        routerSlug !== undefined
          ? { routerSlug }
          : agentId !== undefined
            ? { id: agentId }
            : { slug: agentSlug! },
      // As in answer-chat.ts of the chat service.
      caller: actor.type === 'system' ? undefined : actor,
    }).catch((error: unknown) => {
      leave?.();
      throw error;
    });
    response.setHeader('Location', `/v1/executions/${executionId}`);
    if (isStream) await sendStream(context, executionId, 0, leave);
    if (waitSeconds > 0) {
      response.setHeader('Preference-Applied', `wait=${waitSeconds}`);
      await waitForExecution(waits, context, executionId, waitSeconds * 1_000, leave);
    }
    return toStarted(await executionOf(db, context, executionId));
  },

  async cancelExecution({ params: { id } }, context) {
    const execution = await executionOf(db, context, id);
    if (execution.startedBy === null)
      throw conflict(
        'Only executions that were started with POST /v1/executions can be cancelled',
        'not_in_background',
      );
    await cancelExecution(db, context.scope, id);
    executionChunks.ring(id);
    return toStarted(await executionOf(db, context, id));
  },
});

/**
 * Stores a message for the worker to answer, as one of the request's caller. Throws
 * when it is refused.
 */
export async function beginInBackground(
  { db, queues }: Pick<StartDeps, 'db' | 'queues'>,
  context: CallerContext,
  request: Omit<ExecutionRequest, 'requestId' | 'callerId'>,
): Promise<{ executionId: string; threadId: string }> {
  const { caller, scope, requestId } = context;
  const isLimitedToApi = !seesAll(caller);
  const begun = await db.transaction((tx) =>
    beginExecution(tx, scope, { ...request, isLimitedToApi, requestId, callerId: caller.id }),
  );
  if (!begun.ok) throw refusalOf(begun, scope.environment);
  const { executionId, threadId } = begun;
  context.addLogFields({ executionId, threadId });
  // Without the job, a sweep of the worker finds the row.
  await queues
    .enqueue('run-execution', { tenant: scope.tenant, executionId }, { requestId })
    .catch(() => {});
  return { executionId, threadId };
}

/** The seconds of `Prefer: wait=20` (RFC 7240), at most 30; 0 without it. */
function preferredWait(prefer: string | string[] | undefined): number {
  const seconds = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,6})/i.exec([prefer ?? []].flat().join(','))?.[1];
  return Math.min(Number(seconds ?? 0), 30);
}

function refusalOf(failure: Extract<BegunExecution, { ok: false }>, environment: string) {
  switch (failure.reason) {
    case 'agent_not_found':
      return notFound('Agent not found', failure.reason);
    case 'no_active_config':
      return notFound(
        `No active config found for agent "${failure.agentSlug}" in ${environment}`,
        failure.reason,
      );
    case 'router_not_found':
      return notFound('Router not found', failure.reason);
    case 'thread_not_found':
      return notFound('Thread not found', failure.reason);
    case 'invalid_params': {
      const named = failure.problems.map(({ path, message }) => `${path} ${message}`).join('; ');
      return badRequest(named, failure.problems, failure.reason);
    }
  }
}
