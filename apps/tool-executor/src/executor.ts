import { createHash } from 'node:crypto';
import { executorLimits } from '@parley/contracts';
import type { GuardedFetch } from '@parley/outbound';
import type { Logger, Metrics } from '@parley/service';
import { LRUCache } from 'lru-cache';
import { type RunAccess, createRequestHandler } from './request-handler';
import { type Pool, createPool } from './sandbox/pool';
import type { CompileResult } from './sandbox/protocol';
import { type RunResult, compileInProcess, runHandler } from './sandbox/run-handler';
import { startProcess } from './sandbox/start-process';
import type { ToolCallback } from './tool-callback';

interface ExecuteInput extends RunAccess {
  handlerCode: string;
  /** JSON text, as is `context`. */
  args: string;
  context: string;
  signal?: AbortSignal;
}

type ExecuteOutcome =
  | (RunResult & { durationMs: number })
  | { kind: 'invalid'; error: string; line?: number; column?: number; durationMs: number }
  | { kind: 'overloaded' };

export type Executor = ReturnType<typeof createExecutor>;

export interface ExecutorOptions {
  sandboxEntry: string;
  sandboxUid: number;
  minProcesses: number;
  maxProcesses: number;
  maxQueue: number;
  queueTimeoutMs: number;
  guardedFetch: GuardedFetch;
  toolCallback: ToolCallback;
  log: Logger;
  metrics?: Metrics;
}

const compileTimeoutMs = 2000;
const cachedCodeChars = 16 * 1024 * 1024;
/** Processes that each level of nesting has in addition, as a share of `maxProcesses`. */
const shareOfLevel = 1 / 8;

/**
 * Runs handlers: parses the code (cached by hash), then runs it in a warm process. Parsing has its own processes, so that a
 * parser that one tenant's text has compromised never shares a process with another tenant's handler.
 */
export function createExecutor(options: ExecutorOptions) {
  const { log, metrics, maxQueue, queueTimeoutMs } = options;
  let hasWarned = false;
  const start = async (isUrgent: boolean) => {
    const process = await startProcess({ entry: options.sandboxEntry, uid: options.sandboxUid, isUrgent });
    if (!process.isLimited && !hasWarned) {
      hasWarned = true;
      log.warn('sandbox processes run without kernel limits: prlimit is missing or not permitted');
    }
    return process;
  };
  const poolOf = (min: number, max: number, perLevel?: number): Pool =>
    createPool({
      start,
      min,
      max,
      perLevel,
      maxQueue,
      queueTimeoutMs,
      onStartFailure: (error) => log.error({ err: error }, 'a sandbox process did not start'),
    });
  const { minProcesses, maxProcesses } = options;
  const runners = poolOf(minProcesses, maxProcesses, Math.ceil(maxProcesses * shareOfLevel));
  const compilers = poolOf(1, 2);
  const compiled = new LRUCache<string, CompileResult>({
    maxSize: cachedCodeChars,
    sizeCalculation: (result) => (result.ok ? result.code.length : 0) + 200,
  });
  const runs = metrics?.counter('executor_runs_total', 'Runs of handlers by outcome.', ['outcome']);
  const gauge = metrics?.gauge('executor_processes', 'Sandbox processes by state.', ['state']);

  /** Resolves with null when the executor is overloaded. */
  async function compile(code: string): Promise<CompileResult | null> {
    const key = createHash('sha256').update(code).digest('base64');
    const cached = compiled.get(key);
    if (cached) return cached;
    const acquired = await compilers.acquire();
    if (acquired === null) return null;
    const result = await compileInProcess(acquired, code, compileTimeoutMs);
    compiled.set(key, result);
    return result;
  }

  async function execute(input: ExecuteInput): Promise<ExecuteOutcome> {
    const result = await compile(input.handlerCode);
    if (result === null) return { kind: 'overloaded' };
    if (!result.ok) {
      const { error, line, column } = result;
      return { kind: 'invalid', error, line, column, durationMs: 0 };
    }
    const depth = Math.min(input.callback?.depth ?? 0, executorLimits.maxCallbackDepth);
    const acquired = await runners.acquire({ depth, signal: input.signal });
    if (acquired === null) return { kind: 'overloaded' };
    const startedAt = performance.now();
    const { args, context, timeoutMs } = input;
    const run = { code: result.code, args, context, timeoutMs };
    const outcome = await runHandler(acquired, run, createRequestHandler(options, input), input.signal);
    return { ...outcome, durationMs: Math.round((performance.now() - startedAt) * 100) / 100 };
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
    isReady: (): boolean => runners.stats().processes > 0,
    async close(): Promise<void> {
      runners.close();
      compilers.close();
      await Promise.all([options.guardedFetch.close(), options.toolCallback.close()]);
    },
  };
}
