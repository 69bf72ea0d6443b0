import type { EngineValues, Machine } from './engine-values';
import type { Pointer } from './quickjs';

/** An error thrown by code inside the engine. */
export interface EngineError {
  name?: string;
  message: string;
  stack?: string;
}

/**
 * What one step of the engine ended with. `pending`: more jobs are due; the event loop runs
 * before the next step.
 */
export type Step =
  | { kind: 'idle' }
  | { kind: 'pending' }
  | { kind: 'interrupted' }
  | { kind: 'thrown'; error: EngineError };

const jobsPerStep = 500;

export const outOfMemory: EngineError = { name: 'InternalError', message: 'out of memory' };

/** Evaluates code, calls functions and runs promise jobs inside the engine. */
export function createCalls(machine: Machine, { heap, put, readText }: EngineValues) {
  const { runtime, context } = machine;
  const js = () => machine.loaded.quickJs;
  const lastContext = js()._malloc(4);
  const argv = js()._malloc(4 * 16);

  const evaluate = (code: string, file: string, flags: number): Pointer => {
    const [text, name] = [put(code), put(file)];
    const value = js()._QTS_Eval(context, text.pointer, text.length, name.pointer, 0, flags);
    js()._free(text.pointer);
    js()._free(name.pointer);
    return value;
  };
  const describe = (error: Pointer): EngineError => {
    const dump = js()._QTS_Dump(context, error);
    try {
      const value = JSON.parse(readText(dump)) as unknown;
      if (typeof value !== 'object' || value === null) return { message: String(value) };
      const { name, message, stack } = value as Record<string, unknown>;
      return {
        name: textOf(name),
        message: textOf(message) ?? 'out of memory',
        stack: textOf(stack),
      };
    } catch {
      // The engine had no memory left to describe the error.
      return outOfMemory;
    }
  };
  const exceptionOf = (value: Pointer): EngineError | null => {
    const error = js()._QTS_ResolveException(context, value);
    return error === 0 ? null : describe(error);
  };
  const call = (callee: Pointer, args: Pointer[]): Pointer => {
    const bytes = heap();
    args.forEach((value, index) => bytes.writeUInt32LE(value, argv + index * 4));
    return js()._QTS_Call(context, callee, js()._QTS_GetUndefined(), args.length, argv);
  };
  const runJobs = (): Step => {
    if (js()._QTS_IsJobPending(runtime) === 1) {
      const count = js()._QTS_ExecutePendingJob(runtime, jobsPerStep, lastContext);
      if (machine.wasInterrupted || performance.now() >= machine.deadline)
        return { kind: 'interrupted' };
      // The number of jobs that ran, or the error that the last one threw.
      if (readText(js()._QTS_Typeof(context, count)) !== 'number')
        return { kind: 'thrown', error: describe(count) };
      if (js()._QTS_IsJobPending(runtime) === 1) return { kind: 'pending' };
    }
    return { kind: 'idle' };
  };
  /** Continues after a call that ended with this error, or with none. */
  const stepAfter = (error: EngineError | null): Step => {
    if (machine.wasInterrupted) return { kind: 'interrupted' };
    return error ? { kind: 'thrown', error } : runJobs();
  };
  return { evaluate, exceptionOf, call, runJobs, stepAfter };
}

/**
 * Reports the end of this process's own stack as the engine reports its limit. Other errors mean
 * that memory ran out.
 */
export function guard(work: () => Step): Step {
  try {
    return work();
  } catch (error) {
    const isDepth = error instanceof RangeError;
    const depthExceeded = { name: 'RangeError', message: 'Maximum call stack size exceeded' };
    return { kind: 'thrown', error: isDepth ? depthExceeded : outOfMemory };
  }
}

export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;
