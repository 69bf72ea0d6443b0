import {
  type ExecuteBody,
  type Json,
  type LogLine,
  executeResponseSchema,
  validateResponseSchema,
} from '@parley/contracts';
import { traceparent } from '@parley/service';
import { Agent, request } from 'undici';

/** What became of one execution of a handler. */
type ExecutorAnswer =
  | { ok: true; result: Json; logs?: LogLine[] }
  /**
   * `failed`: the handler threw; `timeout`: it took too long; `busy`: no room now; `refused`: our own request was bad;
   * `away`: nobody took it; `unreachable`: the connection broke, and the handler may have run.
   */
  | {
      ok: false;
      reason: 'failed' | 'timeout' | 'busy' | 'refused' | 'away' | 'unreachable';
      message: string;
      logs?: LogLine[];
    };

export interface ExecutorClient {
  /** Runs a handler; ends at the latest shortly after `timeoutMs`, or when the signal says so. Never throws. */
  execute(
    body: ExecuteBody & { timeoutMs: number },
    options: { requestId?: string; signal?: AbortSignal },
  ): Promise<ExecutorAnswer>;
  /** Whether a handler can be parsed. Never throws. */
  validate(
    handlerCode: string,
  ): Promise<{ ok: true } | { ok: false; reason: 'invalid'; message: string } | { ok: false; reason: 'unavailable' }>;
  close(): Promise<void>;
}

/** For parsing, a wait for a free process included. */
const validateMs = 10_000;
/** The executor limits itself to `timeoutMs`; it gets this much longer to say so. */
const graceMs = 2_000;
/** The executor's cap of a result is 1 MiB, and logs come on top. */
const maxResponseBytes = 4 * 1_048_576;

/** Of a connection that was never made. */
const connectCodes = new Set(
  'ECONNREFUSED ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH UND_ERR_CONNECT_TIMEOUT'.split(' '),
);

/** Shorter than SHUTDOWN_DRAIN_MS (5 s in the manifests): an executor that leaves closes no connection that is used again. */
const idleTimeoutMs = 4_000;

/** A client of `POST {url}/execute` (interface.md, Tool executor service; decisions.md, Tool executor). */
export function createExecutorClient({ url, token }: { url: string; token: string }): ExecutorClient {
  const agent = new Agent({
    connections: 128,
    connect: { timeout: 2_000 },
    maxResponseSize: maxResponseBytes,
    keepAliveTimeout: idleTimeoutMs,
    keepAliveMaxTimeout: idleTimeoutMs,
  });
  const base = url.replace(/\/+$/, '');
  const endpoint = `${base}/execute`;

  return {
    async execute(body, { requestId, signal }) {
      const trace = traceparent();
      const deadline = AbortSignal.timeout(body.timeoutMs + graceMs);
      try {
        const answer = await request(endpoint, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${token}`,
            'content-type': 'application/json',
            ...(requestId !== undefined && { 'x-request-id': requestId }),
            ...(trace !== undefined && { traceparent: trace }),
          },
          body: JSON.stringify(body),
          dispatcher: agent,
          headersTimeout: 0,
          bodyTimeout: 0,
          signal: signal ? AbortSignal.any([deadline, signal]) : deadline,
        });
        return toAnswer(answer.statusCode, await answer.body.text());
      } catch (error) {
        if (deadline.aborted) return fail('timeout', 'Execution time exceeded');
        const isConnected = !connectCodes.has((error as { code?: string }).code ?? '');
        return fail(isConnected ? 'unreachable' : 'away', 'The tool executor cannot be reached');
      }
    },
    async validate(handlerCode) {
      try {
        const answer = await request(`${base}/validate`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ handlerCode }),
          dispatcher: agent,
          signal: AbortSignal.timeout(validateMs),
        });
        const parsed = validateResponseSchema.safeParse(parseJson(await answer.body.text()));
        if (answer.statusCode !== 200 || !parsed.success) return { ok: false, reason: 'unavailable' };
        if (parsed.data.valid) return { ok: true };
        const { error, line, column } = parsed.data;
        const place = line === undefined ? '' : ` (line ${line}${column === undefined ? '' : `, column ${column}`})`;
        return { ok: false, reason: 'invalid', message: `${error}${place}` };
      } catch {
        return { ok: false, reason: 'unavailable' };
      }
    },
    close: () => agent.destroy(),
  };
}

function toAnswer(status: number, text: string): ExecutorAnswer {
  if (status === 500) return fail('timeout', 'Execution time exceeded');
  if (status === 503 || status === 429) return fail('busy', 'The tool executor is busy, try again');
  if (status !== 200) return fail('refused', `The tool executor refused the request (${status})`);
  const parsed = executeResponseSchema.safeParse(parseJson(text));
  if (!parsed.success) return fail('unreachable', 'The tool executor gave an answer that is not its own');
  if ('error' in parsed.data) {
    const { error, line, logs } = parsed.data;
    return { ...fail('failed', line === undefined ? error : `${error} (line ${line})`), ...(logs && { logs }) };
  }
  const { result, logs } = parsed.data;
  return { ok: true, result: (result ?? null) as Json, ...(logs && { logs }) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const fail = (reason: Extract<ExecutorAnswer, { ok: false }>['reason'], message: string): ExecutorAnswer => ({
  ok: false,
  reason,
  message,
});
