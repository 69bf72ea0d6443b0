import type { CallResult } from './call-model';
import type { ModelReply, ModelRequest, ModelResult, ModelSettings, TextSink } from './model';
import { answerOffline, offlineModel } from './offline-model';

/**
 * Calls the candidates in order until one answers (docs/reference/chat.md#models). Any failure except an abort by the
 * caller leads to the next candidate. The result of the last candidate is returned.
 */
export async function callWithFallback(
  { candidates }: ModelSettings,
  request: ModelRequest,
  call: (model: string, hasFallback: boolean) => Promise<CallResult>,
  sink?: TextSink,
): Promise<ModelResult> {
  const startedAt = performance.now();
  let last: ModelResult | undefined;
  for (const [index, model] of candidates.entries()) {
    const result: CallResult =
      model === offlineModel
        ? { ok: true, reply: written(answerOffline(request), sink) }
        : await call(model, index < candidates.length - 1);
    last = { ...result, model, durationMs: performance.now() - startedAt };
    if (last.ok || last.reason === 'aborted') break;
  }
  return last!;
}

function written(reply: ModelReply, sink?: TextSink): ModelReply {
  sink?.begin();
  sink?.write(reply.text);
  return reply;
}
