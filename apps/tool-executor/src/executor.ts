import { createHash } from 'node:crypto';
import { executorLimits, reportRefusal } from '@parley/contracts';
import type { GuardedFetch } from '@parley/outbound';
import type { Logger, Metrics } from '@parley/service';
import { LRUCache } from 'lru-cache';
import { levelsOf, maxCompilers } from './fit-processes';
import { type RunAccess, createRequestHandler } from './request-handler';
import { type Pool, type PoolOptions, type RefusedCall, createPool } from './sandbox/pool';
import type { CompileResult } from './sandbox/protocol';
import { type RunResult, compileInProcess, runHandler } from './sandbox/run-handler';
import { startProcess } from './sandbox/start-process';
import type { ToolCallback } from './tool-callback';

interface ExecuteInput extends RunAccess {
  handlerCode: string;
  /** Whose share of the processes the call uses. Calls without one share a key. */
  organizationId?: string;
  /** JSON text, as is `context`. */
  args: string;
  context: string;
  /** Values in `context` that must not leave the sandbox, by name. */
  secrets?: Record<string, string>;
  signal?: AbortSignal;
}

type ExecuteOutcome =
  | (Exclude<RunResult, { kind: 'not_begun' }> & { durationMs: number })
  | { kind: 'invalid'; error: string; line?: number; column?: number; durationMs: number }
  | RefusedOutcome;

/** No process was free, or none of the organization's share. */
interface RefusedOutcome {
  kind: 'overloaded';
  reason: RefusedCall;
}

export type Executor = ReturnType<typeof createExecutor>;

export interface ExecutorOptions {
  sandboxEntry: string;
  sandboxUid: number;
  minProcesses: number;
  maxProcesses: number;
  maxQueue: number;
  queueTimeoutMs: number;
  /** How long a handler is parsed before it is refused as too hard to parse. Default 2 s. */
  compileTimeoutMs?: number;
  guardedFetch: GuardedFetch;
  toolCallback: ToolCallback;
  log: Logger;
  metrics?: Metrics;
}

const defaultCompileTimeoutMs = 2000;
const cachedCodeChars = 16 * 1024 * 1024;
/** How often a call is run when the process ends before its handler has started. */
const maxTries = 3;

/**
 * Runs handlers: parses the code (cached by hash), then runs it in a warm process. Parsing has its
 * own processes, so that a parser that one tenant's text has compromised never shares a process
 * with another tenant's handler.
 */
export function createExecutor(options: ExecutorOptions) {
  const {
    log,
    metrics,
    maxQueue,
    queueTimeoutMs,
    compileTimeoutMs = defaultCompileTimeoutMs,
  } = options;
  let hasWarned = false;
  const start = async (isUrgent: boolean) => {
    const process = await startProcess({
      entry: options.sandboxEntry,
      uid: options.sandboxUid,
      isUrgent,
    });
    if (!process.isLimited && !hasWarned) {
      hasWarned = true;
      log.warn('sandbox processes run without kernel limits: prlimit is missing or not permitted');
    }
    return process;
  };
  const poolOf = (min: number, max: number, levels?: PoolOptions['levels']): Pool =>
    createPool({
      start,
      min,
      max,
      levels,
      maxQueue,
      queueTimeoutMs,
      onStartFailure: (error) => log.error({ err: error }, 'a sandbox process did not start'),
    });
  const { minProcesses, maxProcesses } = options;
  const runners = poolOf(minProcesses, maxProcesses, levelsOf(maxProcesses));
  const compilers = poolOf(1, maxCompilers);
  const compiled = new LRUCache<string, CompileResult>({
    maxSize: cachedCodeChars,
    sizeCalculation: (result) => (result.ok ? result.code.length : 0) + 200,
  });
  const runs = metrics?.counter('executor_runs_total', 'Runs of handlers by outcome.', ['outcome']);
  const gauge = metrics?.gauge('executor_processes', 'Sandbox processes by state.', ['state']);

  function refuse(reason: RefusedCall, signal?: AbortSignal): RefusedOutcome {
    if (!signal?.aborted)
      reportRefusal(reason === 'share' ? 'executor_share_exceeded' : 'executor_busy');
    return { kind: 'overloaded', reason };
  }

  async function compile(
    code: string,
    organizationId?: string,
  ): Promise<CompileResult | RefusedOutcome> {
    const key = createHash('sha256').update(code).digest('base64');
    const cached = compiled.get(key);
    if (cached) return cached;
    const acquired = await compilers.acquire({ key: organizationId });
    if (typeof acquired === 'string') return refuse(acquired);
    const result = await compileInProcess(acquired, code, compileTimeoutMs);
    compiled.set(key, result);
    return result;
  }

  async function execute(input: ExecuteInput): Promise<ExecuteOutcome> {
    const { args, context, secrets, timeoutMs, organizationId, signal } = input;
    const result = await compile(input.handlerCode, organizationId);
    if ('kind' in result) return result;
    if (!result.ok) {
      const { error, line, column } = result;
      return { kind: 'invalid', error, line, column, durationMs: 0 };
    }
    const depth = Math.min(input.callback?.depth ?? 0, executorLimits.maxCallbackDepth);
    const run = { code: result.code, args, context, secrets, timeoutMs };
    for (let tries = 0; tries < maxTries; tries++) {
      const acquired = await runners.acquire({ key: organizationId, depth, signal });
      if (typeof acquired === 'string') return refuse(acquired, signal);
      const startedAt = performance.now();
      const outcome = await runHandler(acquired, run, createRequestHandler(options, input), signal);
      if (outcome.kind === 'not_begun') continue;
      return { ...outcome, durationMs: Math.round((performance.now() - startedAt) * 100) / 100 };
    }
    return refuse('busy');
  }

  return {
    async execute(input: ExecuteInput): Promise<ExecuteOutcome> {
      const outcome = await execute(input);
      runs?.inc({ outcome: outcome.kind });
      const { processes, idle } = runners.stats();
      gauge?.set({ state: 'idle' }, idle);
      gauge?.set({ state: 'busy' }, processes - idle);
      return outcome;
    },
    validate: compile,
    /** Resolves when the first processes are ready. */
    warm: async (): Promise<void> => void (await Promise.all([runners.warm(), compilers.warm()])),
    stats: runners.stats,
    async close(): Promise<void> {
      runners.close();
      compilers.close();
      await Promise.all([options.guardedFetch.close(), options.toolCallback.close()]);
    },
  };
}
