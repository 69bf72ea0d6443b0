import type { CallResult } from './call-model';
import type { ModelRequest, ModelResult, ModelSettings } from './model';
import { answerOffline, offlineModel } from './offline-model';

/**
 * Calls the candidates in order until one answers (docs/reference/chat.md#models). Any failure except an abort by the
 * caller leads to the next candidate. The result of the last candidate is returned.
 */
export async function callWithFallback(
  { candidates }: ModelSettings,
  request: ModelRequest,
  call: (model: string, hasFallback: boolean) => Promise<CallResult>,
): Promise<ModelResult> {
  const startedAt = performance.now();
  let last: ModelResult | undefined;
  for (const [index, model] of candidates.entries()) {
    const result: CallResult =
      model === offlineModel
        ? { ok: true, reply: answerOffline(request) }
        : await call(model, index < candidates.length - 1);
    last = { ...result, model, durationMs: performance.now() - startedAt };
    if (last.ok || last.reason === 'aborted') break;
  }
  return last!;
}
