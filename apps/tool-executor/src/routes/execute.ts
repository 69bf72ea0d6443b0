import { executorLimits, operationsOf } from '@parley/contracts';
import { type Handler, badRequest, payloadTooLarge, statedFailure, traceparent, unavailable } from '@parley/service';
import type { Executor } from '../executor';

const callbackPath = operationsOf.internal.callTool.path;

export interface ExecuteDeps {
  executor: Pick<Executor, 'execute'>;
  chatUrl: string;
}

/** Runs a handler: 200 with its result or the error it threw, 500 past its time, 503 when every process is taken. */
export const execute =
  ({ executor, chatUrl }: ExecuteDeps): Handler<'execute'> =>
  async ({ body }, { requestId, signal }) => {
    const { handlerCode, allowedHosts, timeoutMs, callback } = body;
    const outcome = await executor.execute({
      handlerCode,
      args: toText(body.args),
      context: toText(body.context ?? {}),
      allowedHosts,
      timeoutMs,
      signal,
      callback: callback
        ? { ...callback, url: callbackUrl(chatUrl, callback.url), requestId, trace: traceparent() }
        : null,
    });
    switch (outcome.kind) {
      case 'result': {
        const { result, logs, durationMs } = outcome;
        return { result, ...(logs.length > 0 && { logs }), _meta: { durationMs } };
      }
      case 'error': {
        const { error, logs, durationMs } = outcome;
        const { message, name: errorName, ...place } = error;
        const named = errorName === undefined ? place : { errorName, ...place };
        return { error: message, ...named, ...(logs.length > 0 && { logs }), _meta: { durationMs } };
      }
      case 'invalid': {
        const { error, line, column, durationMs } = outcome;
        const place = { ...(line !== undefined && { line }), ...(column !== undefined && { column }) };
        return { error, errorName: 'SyntaxError', ...place, _meta: { durationMs } };
      }
      case 'timeout':
        throw statedFailure('Execution time exceeded', 'execution_time_exceeded');
      case 'overloaded':
        throw unavailable('All sandboxes are busy', 1);
    }
  };

function toText(value: object): string {
  const text = JSON.stringify(value);
  if (Buffer.byteLength(text) > executorLimits.argsBytes) throw payloadTooLarge(executorLimits.argsBytes);
  return text;
}

/** A callback carries a token, so it goes to chat and nowhere else. */
function callbackUrl(chatUrl: string, url: string | undefined): string {
  if (url === undefined) return chatUrl + callbackPath;
  if (new URL(url).origin !== new URL(chatUrl).origin) {
    throw badRequest('callback.url must be an address of chat', [
      { path: 'callback.url', message: 'must be an address of chat' },
    ]);
  }
  return url;
}
