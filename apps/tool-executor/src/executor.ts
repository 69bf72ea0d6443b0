import { createHash } from 'node:crypto';
import { executorLimits } from '@parley/contracts';
import type { GuardedFetch } from '@parley/outbound';
import type { Logger, Metrics } from '@parley/service';
import { LRUCache } from 'lru-cache';
import { type RunRights, createAnswerRequest } from './answer-request';
import { type Pool, createPool } from './sandbox/pool';
import type { CompileResult } from './sandbox/protocol';
import { type RunResult, compileInProcess, runHandler } from './sandbox/run-handler';
import { startProcess } from './sandbox/start-process';
import type { ToolCallback } from './tool-callback';

interface ExecuteInput extends RunRights {
  handlerCode: string;
  /** JSON texts. */
  args: string;
  context: string;
  signal?: AbortSignal;
}

type ExecuteOutcome =
  | (RunResult & { durationMs: number })
  | { kind: 'invalid'; error: string; line?: number; column?: number; durationMs: number }
  | { kind: 'overloaded' };

export interface Executor {
  execute(input: ExecuteInput): Promise<ExecuteOutcome>;
  /** Null when overloaded. */
  validate(handlerCode: string): Promise<CompileResult | null>;
  /** Resolves when the first processes are ready for work. */
  warm(): Promise<void>;
  isReady(): boolean;
  close(): Promise<void>;
}

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
/** Of the most processes, the part that each level of nesting has on top of them. */
const shareOfLevel = 1 / 8;

/**
 * Runs handlers: parse (cached by hash) → a warm process → the result. Parsing has processes of its own, so that what
 * a parser may be made to do by one tenant's text is never in the room where another tenant's handler runs.
 */
export function createExecutor(options: ExecutorOptions): Executor {
  const { log, metrics, maxQueue, queueTimeoutMs } = options;
  let hasWarned = false;
  const start = async (isUrgent: boolean) => {
    const process = await startProcess({ entry: options.sandboxEntry, uid: options.sandboxUid, isUrgent });
    if (!process.isLimited && !hasWarned) {
      hasWarned = true;
      log.warn('sandbox processes run without kernel limits here: prlimit is missing or refused');
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
  const runs = metrics?.counter('executor_runs_total', 'Handlers run, by how they ended.', ['outcome']);
  const gauge = metrics?.gauge('executor_processes', 'Sandbox processes, by what they do.', ['state']);

  async function compile(code: string): Promise<CompileResult | null> {
    const key = createHash('sha256').update(code).digest('base64');
    const known = compiled.get(key);
    if (known) return known;
    const lease = await compilers.acquire();
    if (lease === null) return null;
    const result = await compileInProcess(lease, code, compileTimeoutMs);
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
    const lease = await runners.acquire({ depth, signal: input.signal });
    if (lease === null) return { kind: 'overloaded' };
    const startedAt = performance.now();
    const { args, context, timeoutMs } = input;
    const run = { code: result.code, args, context, timeoutMs };
    const outcome = await runHandler(lease, run, createAnswerRequest(options, input), input.signal);
    return { ...outcome, durationMs: Math.round((performance.now() - startedAt) * 100) / 100 };
  }

  return {
    async execute(input) {
      const outcome = await execute(input);
      runs?.inc({ outcome: outcome.kind });
      const { processes, idle } = runners.stats();
      gauge?.set({ state: 'idle' }, idle);
      gauge?.set({ state: 'busy' }, processes - idle);
      return outcome;
    },
    validate: compile,
    warm: async () => void (await Promise.all([runners.warm(), compilers.warm()])),
    isReady: () => runners.stats().processes > 0,
    async close() {
      runners.close();
      compilers.close();
      await Promise.all([options.guardedFetch.close(), options.toolCallback.close()]);
    },
  };
}
