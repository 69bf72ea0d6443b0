import { type ToolCallbackBody, type ToolCallbackResponse, toolCallbackResponseSchema } from '@parley/contracts';
import { Agent, request } from 'undici';

interface CallbackTarget {
  url: string;
  token: string;
  requestId: string;
  /** Of the run that calls, when it is traced. */
  trace?: string;
}

export interface ToolCallback {
  call(target: CallbackTarget, body: ToolCallbackBody, signal: AbortSignal): Promise<ToolCallbackResponse>;
  close(): Promise<void>;
}

const maxAnswerBytes = 2 * 1024 * 1024;
/** Shorter than SHUTDOWN_DRAIN_MS (5 s in the manifests): a chat that leaves closes no connection that is used again. */
const idleTimeoutMs = 4_000;

/** Calls a tool through chat, in the name of the actor that the token is bound to. Failures are results. */
export function createToolCallback(): ToolCallback {
  const dispatcher = new Agent({
    connections: 128,
    maxResponseSize: maxAnswerBytes,
    connect: { timeout: 5_000 },
    keepAliveTimeout: idleTimeoutMs,
    keepAliveMaxTimeout: idleTimeoutMs,
  });
  const failure = (error: string): ToolCallbackResponse => ({ ok: false, error, errorType: 'execution_error' });
  return {
    async call({ url, token, requestId, trace }, body, signal) {
      try {
        const answer = await request(url, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${token}`,
            'content-type': 'application/json',
            'x-request-id': requestId,
            ...(trace !== undefined && { traceparent: trace }),
          },
          body: JSON.stringify(body),
          headersTimeout: 60_000,
          bodyTimeout: 60_000,
          dispatcher,
          signal,
        });
        if (answer.statusCode !== 200) {
          await answer.body.dump();
          return failure(`The tool call was refused (${answer.statusCode})`);
        }
        const parsed = toolCallbackResponseSchema.safeParse(await answer.body.json());
        return parsed.success ? { result: null, ...parsed.data } : failure('The tool call was answered unintelligibly');
      } catch {
        return failure('The tool call failed');
      }
    },
    close: () => dispatcher.destroy(),
  };
}
