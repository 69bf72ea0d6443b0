import type { FinishReason, Scope } from '@parley/contracts';
import { newId } from '@parley/db';
import { roleListsOf } from '@parley/permissions';
import { textOfFailure } from './failure-reply';
import { failureOf, storedResult, toChatResult } from './to-chat-result';
import type { ChatResult } from './chat-result';
import type { ToolLoopOutcome } from './run-tool-loop';
import { sumUsage } from './models/sum-usage';
import type { ChatDeps, RunningTurn } from './running-turn';
import { generateReply } from './generate-reply';
import { sentHistory } from './threads/history';
import type { HistoryRow, Progress, TurnOutcome } from './threads/turn';
import { type TurnRecorder, createTurnRecorder } from './threads/turn-recorder';
import type { TurnStore } from './threads/turn-store';

/** Waits until a stored turn may run, generates its reply, and always ends it in the store. */
export async function answerTurn(
  deps: ChatDeps,
  scope: Scope,
  running: RunningTurn,
): Promise<ChatResult> {
  const { store, turnQueue } = deps;
  const { turn, request, agent } = running;
  const isBackground = running.recorded !== undefined;
  let isFinished = false;
  const recorder = recorderOf(store, running);
  const finish = async (outcome: TurnOutcome) => {
    isFinished = true;
    return recorder.finish(outcome);
  };
  /**
   * The result of a turn that this process has lost: a takeover has ended it, or its
   * lease has expired.
   */
  const afterLoss = async (outcome: ToolLoopOutcome): Promise<ChatResult> =>
    (await recorder.recordOvertaken(outcome))
      ? storedResult(running, outcome.usage)
      : { ...failureOf(running), reason: 'interrupted' };
  try {
    let history: HistoryRow[] = [];
    if (turn.state === 'running') {
      turnQueue.start(turn);
      history = turn.history;
    } else {
      const admission = await turnQueue.admit(turn, {
        signal: request.signal,
        waitMs: deps.turnTimeoutMs,
      });
      if (!admission.ok && admission.reason === 'overtaken') {
        isFinished = true;
        return storedResult(running);
      }
      if (!admission.ok) {
        await finish(
          failed(
            admission.reason === 'timeout'
              ? 'waited too long for earlier turns'
              : 'the caller disconnected',
          ),
        );
        return {
          ...failureOf(running),
          reason: admission.reason === 'timeout' ? 'thread_busy' : 'aborted',
        };
      }
      history = admission.history;
    }
    const callerRoles = request.caller === undefined ? [] : roleListsOf(request.caller);
    if (callerRoles.length > 0) history = await store.restrictHistory(turn, callerRoles, history);
    if (running.sent !== undefined) history = [...sentHistory(running.sent.history), ...history];
    const outcome = await generateReply(deps, scope, running, { history, recorder });
    if (outcome.end.how === 'lost') {
      await recorder.settle();
      return await afterLoss(outcome);
    }
    if (outcome.end.how === 'aborted' && isBackground) {
      await recorder.settle();
      isFinished = true;
      await store.release(turn);
      return { ...failureOf(running), reason: 'aborted' };
    }
    const replyId = newId('msg');
    const { end } = outcome;
    if (end.how === 'answered') await running.stream?.complete(end, outcome.usage);
    const reason = end.how === 'model_failed' ? end.reason : end.how;
    const failing = { channel: request.channel, turn, agent: agent.definition, reason };
    const text = end.how === 'answered' ? end.text : await textOfFailure(deps, scope, failing);
    const isStored = await finish({
      status: end.how === 'answered' ? 'succeeded' : 'failed',
      reply: text === null ? null : { id: replyId, position: outcome.position, content: text },
      error: end.how === 'answered' ? undefined : describeEnd(outcome),
      finishReason: finishReasonOf(outcome),
      model: outcome.model,
      iterations: outcome.iterations,
      usage: outcome.usage,
      steps: outcome.steps,
    });
    if (!isStored) return await afterLoss(outcome);
    return toChatResult(running, outcome, replyId);
  } finally {
    // After an unexpected error the turn is ended if the database is reachable; otherwise its lease
    // expires. Another process then continues a background execution.
    if (!isFinished && !isBackground)
      await store.finish(turn, failed('internal error')).catch(() => {});
    turnQueue.leave(turn);
  }
}

/** How the turn ended; a failed one as `error`, unless the provider says more. */
function finishReasonOf({ end }: ToolLoopOutcome): FinishReason {
  if (end.how === 'answered') return end.finishReason;
  const reason = end.how === 'model_failed' ? end.reason : 'error';
  return reason === 'content_filter' || reason === 'refusal' || reason === 'length'
    ? reason
    : 'error';
}

/**
 * Returns the turn's recorder, which also records the usage and the step of a
 * router's classification.
 */
function recorderOf(store: TurnStore, { turn, routing }: RunningTurn): TurnRecorder {
  const recorder = createTurnRecorder(store, turn);
  const classification = routing?.classification ?? null;
  if (classification === null) return recorder;
  const withClassification = <T extends Progress>(progress: T): T => ({
    ...progress,
    usage: sumUsage(progress.usage, classification.usage),
    steps: [classification.step, ...progress.steps],
  });
  return {
    ...recorder,
    recordCalls: (step) =>
      recorder.recordCalls({ ...step, progress: withClassification(step.progress) }),
    finish: (outcome) => recorder.finish(withClassification(outcome)),
    recordOvertaken: (progress) => recorder.recordOvertaken(withClassification(progress)),
  };
}

const failed = (error: string): TurnOutcome => ({
  status: 'failed',
  reply: null,
  error,
  iterations: 0,
  finishReason: 'error',
  usage: { inputTokens: 0, outputTokens: 0 },
  steps: [],
});

function describeEnd({ end, model }: ToolLoopOutcome): string {
  switch (end.how) {
    case 'answered':
      return '';
    case 'model_failed':
      return `${model}: ${end.reason}: ${end.detail}`;
    case 'aborted':
      return 'the caller disconnected';
    case 'timeout':
      return 'the turn took too long';
    case 'lost':
      return 'interrupted';
  }
}
