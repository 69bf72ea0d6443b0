import { executorLimits, operationsOf, textAt } from '@parley/contracts';
import {
  type Handler,
  badRequest,
  payloadTooLarge,
  serverError,
  traceparent,
} from '@parley/service';
import type { Executor } from '../executor';
import { refusedCall } from './refused-call';

const callbackPath = operationsOf.internal.callTool.path;

export interface ExecuteDeps {
  executor: Pick<Executor, 'execute'>;
  chatUrl: string;
}

/**
 * Runs a handler. 200: its result, or the error that it threw. 500: it exceeded its time limit.
 * 503: no free process.
 */
export const execute =
  ({ executor, chatUrl }: ExecuteDeps): Handler<'execute'> =>
  async ({ body }, { requestId, signal }) => {
    const { handlerCode, allowedHosts, timeoutMs, callback, context = {}, secrets } = body;
    const outcome = await executor.execute({
      handlerCode,
      organizationId: textAt(context.organizationId),
      args: toText(body.args),
      context: toText({ ...context, secrets: secrets ?? {} }),
      secrets,
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
        const { message, name: errorName, ...rest } = error;
        return {
          error: message,
          errorName,
          ...rest,
          ...(logs.length > 0 && { logs }),
          _meta: { durationMs },
        };
      }
      case 'invalid': {
        const { error, line, column, durationMs } = outcome;
        return { error, errorName: 'SyntaxError', line, column, _meta: { durationMs } };
      }
      case 'timeout':
        throw serverError('Execution time exceeded', 'execution_time_exceeded');
      case 'overloaded':
        throw refusedCall(outcome.reason);
    }
  };

function toText(value: object): string {
  const text = JSON.stringify(value);
  if (Buffer.byteLength(text) > executorLimits.argsBytes)
    throw payloadTooLarge(executorLimits.argsBytes);
  return text;
}

/** The callback carries a token, so it may only be sent to chat. */
function callbackUrl(chatUrl: string, url: string | undefined): string {
  if (url === undefined) return chatUrl + callbackPath;
  if (new URL(url).origin !== new URL(chatUrl).origin) {
    throw badRequest('callback.url must be an address of chat', [
      { path: 'callback.url', message: 'must be an address of chat' },
    ]);
  }
  return url;
}
