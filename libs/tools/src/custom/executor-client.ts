import {
  type ExecuteBody,
  type Json,
  type LogLine,
  executeResponseSchema,
  validateResponseSchema,
  objectAt,
} from '@parley/contracts';
import { callHttp } from '@parley/outbound';
import { traceparent } from '@parley/service';
import { Agent } from 'undici';

/** How one execution of a handler ended. */
type ExecutorAnswer =
  | { ok: true; result: Json; logs?: LogLine[] }
  /**
   * `failed`: the handler threw. `timeout`: it took too long. `busy`: no process was free.
   * `refused`: the executor rejected the request. `away`: the request was not sent. `unreachable`:
   * the connection broke, and the handler may have run.
   */
  | {
      ok: false;
      reason: 'failed' | 'timeout' | 'busy' | 'refused' | 'away' | 'unreachable';
      message: string;
      logs?: LogLine[];
    };

export interface ExecutorClient {
  /**
   * Runs a handler. Ends shortly after `timeoutMs` at the latest, or when the signal is
   * aborted. Never throws.
   */
  execute(
    body: ExecuteBody & { timeoutMs: number },
    options: { requestId?: string; signal?: AbortSignal },
  ): Promise<ExecutorAnswer>;
  /** Reports whether a handler can be parsed. Never throws. */
  validate(
    handlerCode: string,
    organizationId: string,
  ): Promise<
    | { ok: true }
    | { ok: false; reason: 'invalid'; message: string }
    | { ok: false; reason: 'unavailable' }
  >;
  close(): Promise<void>;
}

/** Time limit of parsing, including a wait for a free process. */
const validateMs = 10_000;
/**
 * Added to `timeoutMs`, which the executor itself enforces, so that its answer can still arrive.
 */
const graceMs = 2_000;
/** A result may have 1 MiB; the rest is for the logs. */
const maxAnswerBytes = 4 * 1_048_576;

/**
 * Shorter than SHUTDOWN_DRAIN_MS (5 s), so that no request uses a connection that a stopping
 * executor closes.
 */
const idleTimeoutMs = 4_000;

/** Creates a client of the tool executor (docs/reference/tools.md#tool-executor). */
export function createExecutorClient({
  url,
  token,
}: {
  url: string;
  token: string;
}): ExecutorClient {
  const dispatcher = new Agent({
    connections: 128,
    connect: { timeout: 2_000 },
    keepAliveTimeout: idleTimeoutMs,
    keepAliveMaxTimeout: idleTimeoutMs,
  });
  const base = url.replace(/\/+$/, '');
  const post = (
    path: string,
    body: unknown,
    timeoutMs: number,
    headers = {},
    signal?: AbortSignal,
  ) =>
    callHttp({
      method: 'POST',
      url: base + path,
      headers: { authorization: `Bearer ${token}`, ...headers },
      body,
      timeoutMs,
      maxAnswerBytes,
      signal,
      dispatcher,
    });

  return {
    async execute(body, { requestId, signal }) {
      const trace = traceparent();
      const headers = {
        ...(requestId !== undefined && { 'x-request-id': requestId }),
        ...(trace !== undefined && { traceparent: trace }),
      };
      const outcome = await post('/execute', body, body.timeoutMs + graceMs, headers, signal);
      if (outcome.kind === 'answered') return toAnswer(outcome.status, outcome.body);
      if (outcome.reason === 'timeout') return fail('timeout', 'Execution time exceeded');
      return fail(
        outcome.kind === 'not_sent' ? 'away' : 'unreachable',
        'The tool executor cannot be reached',
      );
    },
    async validate(handlerCode, organizationId) {
      const outcome = await post('/validate', { handlerCode, organizationId }, validateMs);
      if (outcome.kind !== 'answered' || outcome.status !== 200)
        return { ok: false, reason: 'unavailable' };
      const parsed = validateResponseSchema.safeParse(outcome.body);
      if (!parsed.success) return { ok: false, reason: 'unavailable' };
      if (parsed.data.valid) return { ok: true };
      const { error, line, column } = parsed.data;
      const place =
        line === undefined
          ? ''
          : ` (line ${line}${column === undefined ? '' : `, column ${column}`})`;
      return { ok: false, reason: 'invalid', message: `${error}${place}` };
    },
    close: () => dispatcher.destroy(),
  };
}

function toAnswer(status: number, body: Json): ExecutorAnswer {
  if (status === 500) return fail('timeout', 'Execution time exceeded');
  if (status === 503 && objectAt(body).code === 'executor_share_exceeded')
    return fail('busy', "The organization's share of the tool executor is in use, try again");
  if (status === 503 || status === 429) return fail('busy', 'The tool executor is busy, try again');
  if (status !== 200) return fail('refused', `The tool executor refused the request (${status})`);
  const parsed = executeResponseSchema.safeParse(body);
  if (!parsed.success) return fail('unreachable', 'The answer of the tool executor is not valid');
  if ('error' in parsed.data) {
    const { error, line, logs } = parsed.data;
    return {
      ...fail('failed', line === undefined ? error : `${error} (line ${line})`),
      ...(logs && { logs }),
    };
  }
  const { result, logs } = parsed.data;
  return { ok: true, result: (result ?? null) as Json, ...(logs && { logs }) };
}

const fail = (
  reason: Extract<ExecutorAnswer, { ok: false }>['reason'],
  message: string,
): ExecutorAnswer => ({
  ok: false,
  reason,
  message,
});
