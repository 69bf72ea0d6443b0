import type { ChatResponse } from '@parley/contracts';
import type { ChatResult } from './chat-result';
import type { ToolLoopOutcome } from './run-tool-loop';
import type { ModelFailureReason, ModelUsage } from './models/model';
import { sumUsage } from './models/sum-usage';
import type { RunningTurn } from './running-turn';

const modelFailures: Partial<Record<ModelFailureReason, 'model_timeout' | 'model_not_configured'>> = {
  timeout: 'model_timeout',
  not_configured: 'model_not_configured',
  unknown_model: 'model_not_configured',
};

/** The result that the caller gets for a turn that has ended. */
export function toChatResult(running: RunningTurn, outcome: ToolLoopOutcome, replyId: string): ChatResult {
  const { threadId } = running.turn;
  const { end, model } = outcome;
  switch (end.how) {
    case 'answered':
      return { ok: true, state: 'answered', response: responseOf(running, outcome, { text: end.text, replyId }) };
    case 'model_failed':
      return { ok: false, reason: modelFailures[end.reason] ?? 'model_failed', model, detail: end.detail, threadId };
    case 'timeout':
      return { ok: false, reason: 'turn_timeout', threadId };
    case 'aborted':
      return { ok: false, reason: 'aborted', threadId };
    case 'lost':
      return { ok: false, reason: 'interrupted', threadId };
  }
}

function responseOf(
  running: RunningTurn,
  outcome: ToolLoopOutcome,
  reply: { text: string; replyId: string },
): ChatResponse {
  const { model, iterations, toolCalls, lastTransfer } = outcome;
  const transfer = lastTransfer as { agentSlug?: string; agentId?: string } | undefined;
  return {
    threadId: running.turn.threadId,
    message: reply.text,
    usage: sumUsage(outcome.usage, running.routing?.classification?.usage ?? null),
    assistantMessageId: reply.replyId,
    _executionMeta: {
      iterationCount: iterations,
      model,
      durationMs: Math.round(performance.now() - running.startedAt),
      toolCallSummary: toolCalls,
      errorCount: toolCalls.filter((call) => call.status === 'error').length,
      permissionDenialCount: toolCalls.filter((call) => call.errorType === 'permission_denied').length,
    },
    ...(transfer?.agentSlug && {
      _transferred: { targetAgentSlug: transfer.agentSlug, targetAgent: transfer.agentId ?? transfer.agentSlug },
    }),
    ...routedTo(running),
  };
}

const noUsage: ModelUsage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

/** The result for a message that the agent does not answer, with the usage of its turn before a takeover ended it. */
export const storedResult = (running: RunningTurn, usage: ModelUsage = noUsage): ChatResult => ({
  ok: true,
  state: 'stored',
  response: {
    threadId: running.turn.threadId,
    message: '',
    usage: sumUsage(usage, running.routing?.classification?.usage ?? null),
    ...routedTo(running),
  },
});

const routedTo = ({ routing, agent }: RunningTurn) =>
  routing === null ? {} : { routedToAgent: agent.id, routedToAgentSlug: agent.definition.slug };
