import type { Scope } from '@parley/contracts';
import { newId } from '@parley/db';
import { toResult } from './chat-answer';
import type { ChatResult } from './chat-result';
import type { LoopOutcome } from './loop';
import { addUsage } from './models/add-usage';
import type { ChatDeps, RunningTurn } from './running-turn';
import { think } from './think';
import type { HistoryRow, Progress, TurnOutcome } from './threads/turn';
import { type TurnRecorder, createTurnRecorder } from './threads/turn-recorder';
import type { TurnStore } from './threads/turn-store';

/** The turn itself: wait for its place, prompt, loop, and its end in the store whatever happens. */
export async function answerTurn(deps: ChatDeps, scope: Scope, running: RunningTurn): Promise<ChatResult> {
  const { store, line } = deps;
  const { turn, request } = running;
  let isFinished = false;
  const recorder = recorderOf(store, running);
  const finish = async (outcome: TurnOutcome) => {
    isFinished = true;
    return recorder.finish(outcome);
  };
  try {
    let history: HistoryRow[] = [];
    if (turn.state === 'running') {
      line.start(turn);
      history = turn.history;
    } else {
      const admission = await line.admit(turn, { signal: request.signal, waitMs: deps.turnTimeoutMs });
      if (!admission.ok) {
        await finish(
          failed(admission.reason === 'timeout' ? 'waited too long for the turns before it' : 'the caller went away'),
        );
        return {
          ok: false,
          reason: admission.reason === 'timeout' ? 'thread_busy' : 'aborted',
          threadId: turn.threadId,
        };
      }
      history = admission.history;
    }
    const outcome = await think(deps, scope, running, { history, recorder });
    if (outcome.end.how === 'lost') {
      await recorder.settle();
      return { ok: false, reason: 'interrupted', threadId: turn.threadId };
    }
    const replyId = newId('msg');
    const reply =
      outcome.end.how === 'answered' ? { id: replyId, position: outcome.position, content: outcome.end.text } : null;
    const isStored = await finish({
      status: reply === null ? 'failed' : 'succeeded',
      reply,
      error: reply === null ? describeEnd(outcome) : undefined,
      model: outcome.model,
      iterations: outcome.iterations,
      usage: outcome.usage,
      steps: outcome.steps,
    });
    if (!isStored) return { ok: false, reason: 'interrupted', threadId: turn.threadId };
    return toResult(running, outcome, replyId);
  } finally {
    // A bug or an unreachable database: the turn is ended if that still works, else its lease ends it.
    if (!isFinished) await store.finish(turn, failed('internal error')).catch(() => {});
    line.leave(turn);
  }
}

/** The turn's recorder; what a router's classification used is counted in. */
function recorderOf(store: TurnStore, { turn, routing }: RunningTurn): TurnRecorder {
  const recorder = createTurnRecorder(store, turn);
  const classification = routing?.classification ?? null;
  if (classification === null) return recorder;
  const withIt = <T extends Progress>(progress: T): T => ({
    ...progress,
    usage: addUsage(progress.usage, classification.usage),
    steps: [classification.step, ...progress.steps],
  });
  return {
    ...recorder,
    recordCalls: (step) => recorder.recordCalls({ ...step, progress: withIt(step.progress) }),
    finish: (outcome) => recorder.finish(withIt(outcome)),
  };
}

const failed = (error: string): TurnOutcome => ({
  status: 'failed',
  reply: null,
  error,
  iterations: 0,
  usage: { inputTokens: 0, outputTokens: 0 },
  steps: [],
});

function describeEnd({ end, model }: LoopOutcome): string {
  switch (end.how) {
    case 'answered':
      return '';
    case 'model_failed':
      return `${model}: ${end.reason}: ${end.detail}`;
    case 'aborted':
      return 'the caller went away';
    case 'timeout':
      return 'the turn took too long';
    case 'lost':
      return 'interrupted';
  }
}
