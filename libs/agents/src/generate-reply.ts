import type { Scope } from '@parley/contracts';
import { isListed } from '@parley/permissions';
import { type ToolContext, notListed } from '@parley/tools';
import { actorOfTurn } from './actor-of-turn';
import { type ToolLoopOutcome, maxModelCalls, runToolLoop } from './run-tool-loop';
import { compilePrompt } from './compile-prompt';
import type { ChatDeps, RunningTurn } from './running-turn';
import { repairHistory } from './threads/history';
import { sentPrompt } from './threads/sent-prompt';
import type { HistoryRow } from './threads/turn';
import type { TurnRecorder } from './threads/turn-recorder';

/** Compiles the prompt of a running turn, reads its tools and model, and runs the tool loop. */
export async function generateReply(
  deps: ChatDeps,
  scope: Scope,
  running: RunningTurn,
  { history, recorder }: { history: HistoryRow[]; recorder: TurnRecorder },
): Promise<ToolLoopOutcome> {
  const { tools, models } = deps;
  const { turn, request, agent, params } = running;
  const { definition } = agent;
  const allowed = definition.tools ?? [];
  const acting = actorOfTurn(deps.db, scope, { request, agent: definition });
  const context: ToolContext = {
    requestId: request.requestId,
    threadId: turn.threadId,
    executionId: turn.id,
    rootExecutionId: request.rootExecutionId ?? turn.id,
    agentSlug: definition.slug,
    channel: request.channel,
    contact: request.contact,
    params,
    hops: request.hops ?? 0,
    root: request.root,
    depth: request.depth ?? 0,
    parentAgents: request.parentAgents ?? [],
    nesting: request.nesting,
    runAs: request.runAs,
  };
  const [actor, prompt, offers, settings] = await Promise.all([
    acting,
    acting.then((actor) =>
      compilePrompt(deps, scope, {
        agent: definition,
        actor,
        channel: request.channel,
        params,
        message: request.message,
        threadId: turn.threadId,
        context,
        signal: request.signal,
      }),
    ),
    allowed.length === 0 ? [] : tools.offer(scope, allowed),
    models.settings(scope, request.model ?? definition.model, request.channel),
  ]);
  const system = [prompt.compiled, running.sent?.instructions].filter(Boolean).join('\n\n');
  recorder.sends(sentPrompt(system, offers));
  return runToolLoop({
    models,
    settings,
    scope,
    turnId: turn.id,
    system,
    history: repairHistory(history),
    historyTokens: deps.historyTokens,
    refusedTurns: () => deps.store.refusedTurns(turn),
    message: request.message,
    recorded: running.recorded,
    offers,
    async runTool({ id, name, args, onDecision }, signal) {
      const result = await tools.run(scope, {
        name,
        args,
        actor,
        allowed,
        context: { ...context, callId: id, signal },
        onDecision,
      });
      // A tool that is not in the agent's list is denied, whether or not it exists.
      const isDenied =
        !result.ok && result.errorType === 'tool_not_found' && !isListed(allowed, name);
      if (!isDenied) return result;
      const reason = notListed(actor, name);
      onDecision({ allowed: false, reason, policies: [] });
      return { ...result, errorType: 'permission_denied', reason };
    },
    recorder,
    stream: running.stream,
    toolCallsPerMessage: deps.toolCallsPerMessage,
    // A turn that is not nested keeps its own calls, so it can always answer, and needs no
    // statement (docs/adr/0039).
    ...(request.rootExecutionId !== undefined && {
      takeModelCall: () =>
        deps.store.takeNestedCall(
          turn,
          request.rootExecutionId!,
          deps.modelCallsPerTurn - maxModelCalls,
        ),
    }),
    signal: request.signal,
    // A turn that has waited almost until its time limit still gets a tenth of it.
    timeLimitMs: Math.ceil(
      Math.max(
        deps.turnTimeoutMs - (performance.now() - running.startedAt),
        deps.turnTimeoutMs / 10,
      ),
    ),
  });
}
