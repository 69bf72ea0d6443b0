import {
  type ToolCallbackBody,
  type ToolCallbackResponse,
  toolCallbackResponseSchema,
} from '@parley/contracts';
import { callHttp } from '@parley/outbound';
import { Agent } from 'undici';

interface CallbackTarget {
  url: string;
  token: string;
  requestId: string;
  /** `traceparent` of the run, when it is traced. */
  trace?: string;
}

export interface ToolCallback {
  call(
    target: CallbackTarget,
    body: ToolCallbackBody,
    signal: AbortSignal,
  ): Promise<ToolCallbackResponse>;
  close(): Promise<void>;
}

const timeoutMs = 60_000;
const maxAnswerBytes = 2 * 1024 * 1024;
/**
 * Shorter than SHUTDOWN_DRAIN_MS (5 s), so that no request uses a connection that a
 * stopping chat closes.
 */
const idleTimeoutMs = 4_000;

/**
 * Calls tools through chat, as the actor that the token is bound to. Failures are
 * returned, not thrown.
 */
export function createToolCallback(): ToolCallback {
  const dispatcher = new Agent({
    connections: 128,
    connect: { timeout: 5_000 },
    keepAliveTimeout: idleTimeoutMs,
    keepAliveMaxTimeout: idleTimeoutMs,
  });
  const failure = (error: string): ToolCallbackResponse => ({
    ok: false,
    error,
    errorType: 'execution_error',
  });
  return {
    async call({ url, token, requestId, trace }, body, signal) {
      const outcome = await callHttp({
        method: 'POST',
        url,
        headers: {
          authorization: `Bearer ${token}`,
          'x-request-id': requestId,
          ...(trace !== undefined && { traceparent: trace }),
        },
        body,
        timeoutMs,
        maxAnswerBytes,
        signal,
        dispatcher,
      });
      if (outcome.kind !== 'answered') return failure('The tool call failed');
      if (outcome.status !== 200) return failure(`The tool call was refused (${outcome.status})`);
      const parsed = toolCallbackResponseSchema.safeParse(outcome.body);
      return parsed.success
        ? { result: null, ...parsed.data }
        : failure('The answer to the tool call is not valid');
    },
    close: () => dispatcher.destroy(),
  };
}
