import type { ChatResponse } from '@parley/contracts';
import type { ChatResult } from './chat-result';
import type { ToolLoopOutcome } from './run-tool-loop';
import type { ModelFailureReason, ModelUsage } from './models/model';
import { sumUsage } from './models/sum-usage';
import type { RunningTurn } from './running-turn';

type NamedFailure =
  | 'model_timeout'
  | 'model_not_configured'
  | 'content_filter'
  | 'refusal'
  | 'length'
  | 'empty_answer';

/** The reasons of models that have a name of their own in the API. Any other is `model_failed`. */
const modelFailures: Partial<Record<ModelFailureReason, NamedFailure>> = {
  timeout: 'model_timeout',
  not_configured: 'model_not_configured',
  unknown_model: 'model_not_configured',
  content_filter: 'content_filter',
  refusal: 'refusal',
  length: 'length',
  empty_answer: 'empty_answer',
};

/** Failures of models that may be over at the next attempt. */
const passing: readonly ModelFailureReason[] = [
  'timeout',
  'unavailable',
  'rate_limited',
  'aborted',
];

/** The result that the caller gets for a turn that has ended. */
export function toChatResult(
  running: RunningTurn,
  outcome: ToolLoopOutcome,
  replyId: string,
): ChatResult {
  const { end, model } = outcome;
  switch (end.how) {
    case 'answered':
      return { ok: true, state: 'answered', response: responseOf(running, outcome, end, replyId) };
    case 'model_failed':
      return {
        ...failureOf(running),
        reason: modelFailures[end.reason] ?? 'model_failed',
        model,
        detail: end.detail,
        isLasting: !passing.includes(end.reason),
      };
    case 'timeout':
      return { ...failureOf(running), reason: 'turn_timeout' };
    case 'aborted':
      return { ...failureOf(running), reason: 'aborted' };
    case 'lost':
      return { ...failureOf(running), reason: 'interrupted' };
  }
}

/** What all failures of a stored turn have in common. */
export const failureOf = ({ turn, agent }: RunningTurn) => ({
  ok: false as const,
  threadId: turn.threadId,
  agent: agent.definition,
});

function responseOf(
  running: RunningTurn,
  outcome: ToolLoopOutcome,
  { text, finishReason }: Extract<ToolLoopOutcome['end'], { how: 'answered' }>,
  replyId: string,
): ChatResponse {
  const { model, iterations, toolCalls, lastTransfer } = outcome;
  const transfer = lastTransfer as { agentSlug?: string; agentId?: string } | undefined;
  return {
    threadId: running.turn.threadId,
    message: text,
    usage: usageOf(running, outcome.usage),
    assistantMessageId: replyId,
    _executionMeta: {
      iterationCount: iterations,
      model,
      durationMs: Math.round(performance.now() - running.startedAt),
      toolCallSummary: toolCalls,
      errorCount: toolCalls.filter((call) => call.status === 'error').length,
      permissionDenialCount: toolCalls.filter((call) => call.errorType === 'permission_denied')
        .length,
      finishReason,
    },
    ...(transfer?.agentSlug && {
      _transferred: {
        targetAgentSlug: transfer.agentSlug,
        targetAgent: transfer.agentId ?? transfer.agentSlug,
      },
    }),
    ...routedTo(running),
  };
}

const noUsage: ModelUsage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

/**
 * The result for a message that the agent does not answer, with the usage of its turn before a
 * takeover ended it.
 */
export const storedResult = (running: RunningTurn, usage: ModelUsage = noUsage): ChatResult => ({
  ok: true,
  state: 'stored',
  response: {
    threadId: running.turn.threadId,
    message: '',
    usage: usageOf(running, usage),
    ...routedTo(running),
  },
});

/**
 * The tokens of the turn and of the choice of its agent. The API does not report which of
 * them were cached.
 */
function usageOf({ routing }: RunningTurn, usage: ModelUsage): ModelUsage {
  const { inputTokens, outputTokens, totalTokens, reasoningTokens } = sumUsage(
    usage,
    routing?.classification?.usage,
  );
  return {
    inputTokens,
    outputTokens,
    totalTokens,
    ...(reasoningTokens !== undefined && { reasoningTokens }),
  };
}

const routedTo = ({ routing, agent }: RunningTurn) =>
  routing === null ? {} : { routedToAgent: agent.id, routedToAgentSlug: agent.definition.slug };
