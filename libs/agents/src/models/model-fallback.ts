import type { FinishReason } from '@parley/contracts';
import type { CallResult } from './call-model';
import type {
  ModelFailureReason,
  ModelReply,
  ModelRequest,
  ModelResult,
  ModelSettings,
  ModelUsage,
  TextSink,
} from './model';
import { answerOffline, offlineModel } from './offline-model';
import { sumUsage } from './sum-usage';

/** Why an answer without a text is a failure. */
export const failureOfBlank = (finishReason: FinishReason): ModelFailureReason =>
  finishReason === 'length' || finishReason === 'content_filter' || finishReason === 'refusal'
    ? finishReason
    : 'empty_answer';

/**
 * - `half`: the provider ended the answer with an error. It is used if no candidate
 *   has a whole one.
 * - `blank`: without text and calls.
 * - `failed`: no answer, or none that a repetition would change.
 */
type Kind = 'answer' | 'half' | 'blank' | 'failed';

interface Asked {
  kind: Kind;
  result: ModelResult;
  /** The tokens of an answer. */
  usage: ModelUsage | null;
}

/**
 * Calls the candidates in order until one answers (docs/reference/chat.md#models). Any failure
 * except an abort by the caller, and an answer that is blank or half, leads to the next
 * candidate. A single candidate with such an answer is asked once more. The result has the
 * tokens of all answers.
 */
export async function callWithFallback(
  { candidates }: ModelSettings,
  request: ModelRequest,
  call: (model: string, hasFallback: boolean) => Promise<CallResult>,
  sink?: TextSink,
): Promise<ModelResult> {
  const startedAt = performance.now();
  const ask = async (model: string, hasFallback: boolean): Promise<Asked> => {
    const result: CallResult =
      model === offlineModel
        ? { ok: true, reply: written(answerOffline(request), sink) }
        : await call(model, hasFallback);
    return judge({ ...result, model, durationMs: performance.now() - startedAt });
  };
  const isSingle = candidates.length === 1;
  const order = isSingle ? [candidates[0], candidates[0]] : candidates;
  const all: Asked[] = [];
  for (const [index, model] of order.entries()) {
    const asked = await ask(model, !isSingle && index < order.length - 1);
    all.push(asked);
    const isAborted = !asked.result.ok && asked.result.reason === 'aborted';
    if (asked.kind === 'answer' || isAborted) break;
    if (isSingle && asked.kind === 'failed') break;
  }
  const last = all.at(-1)!;
  const chosen =
    last.kind === 'answer' ? last : (all.findLast(({ kind }) => kind === 'half') ?? last);
  return withUsage(chosen, all);
}

function judge(result: ModelResult): Asked {
  if (!result.ok) return { kind: 'failed', result, usage: null };
  const { reply, model, durationMs } = result;
  const { usage, finishReason, providerReason } = reply;
  const isBlank = reply.toolCalls.length === 0 && reply.text.trim() === '';
  if (!isBlank) return { kind: finishReason === 'error' ? 'half' : 'answer', result, usage };
  return {
    kind: reply.isPromptRefused ? 'failed' : 'blank',
    result: {
      ok: false,
      reason: failureOfBlank(finishReason),
      model,
      detail: `The model answered without a text (${providerReason})`,
      durationMs,
    },
    usage,
  };
}

/** The chosen result with the tokens of all answers. */
function withUsage(chosen: Asked, all: readonly Asked[]): ModelResult {
  const { result } = chosen;
  const others = all.filter((asked) => asked !== chosen).map(({ usage }) => usage);
  const usage = others.reduce(addUsage, chosen.usage);
  if (usage === null) return result;
  return result.ok ? { ...result, reply: { ...result.reply, usage } } : { ...result, usage };
}

const addUsage = (sum: ModelUsage | null, usage: ModelUsage | null): ModelUsage | null =>
  sum === null ? usage : sumUsage(sum, usage);

function written(reply: ModelReply, sink?: TextSink): ModelReply {
  sink?.begin();
  sink?.write(reply.text);
  return reply;
}
