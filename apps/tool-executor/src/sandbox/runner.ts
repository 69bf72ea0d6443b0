import { type Engine, Refusal, createEngine, resultTooLarge } from './engine';
import { type Step, textOf } from './engine-calls';
import type { Frame } from './frames';
import { toHandlerError } from './handler-error';
import { platformOps } from './platform-ops';
import { sandboxLimits } from './limits';
import type { FromSandbox, HandlerError, Outcome, ToSandbox } from './protocol';
import { createRunLog } from './run-log';

type Send = (frame: Frame<FromSandbox>) => void;

interface Run {
  log: ReturnType<typeof createRunLog>;
  timers: Map<number, NodeJS.Timeout>;
  open: Set<number>;
  requests: number;
  deadline: NodeJS.Timeout;
}

/** Runs one handler at a time in the engine, and performs its operations: timers, requests, logs and the result. */
export async function createRunner(send: Send) {
  let run: Run | null = null;
  let resetting: Promise<void> | null = null;
  const engine: Engine = await createEngine((kind, payload, bytes = new Uint8Array()) => {
    if (run === null) throw new Refusal('Error', 'Nothing is running');
    const platform = Object.hasOwn(platformOps, kind) ? platformOps[kind] : undefined;
    if (platform) return platform(payload as never, bytes);
    return perform(run, kind, payload, bytes);
  });

  function perform(current: Run, kind: string, payload: unknown, bytes: Uint8Array): unknown {
    switch (kind) {
      case 'log': {
        const { level, message } = payload as { level: unknown; message: unknown };
        return current.log.write(level, message);
      }
      case 'timer': {
        const [id, waitMs] = payload as [number, number];
        if (current.timers.size >= sandboxLimits.timers) throw new Refusal('RangeError', 'Too many timers');
        const due = () => {
          current.timers.delete(id);
          if (run === current) proceed(engine.deliver('timer', id));
        };
        clearTimeout(current.timers.get(id));
        current.timers.set(id, setTimeout(due, waitMs));
        return undefined;
      }
      case 'clear':
        clearTimeout(current.timers.get(payload as number));
        current.timers.delete(payload as number);
        return undefined;
      case 'fetch':
      case 'tool': {
        const { id, payload: value } = payload as { id: number; payload: unknown };
        if (bytes.length > sandboxLimits.bodyBytes) {
          throw new Refusal('RangeError', `A body may have ${sandboxLimits.bodyBytes} bytes`);
        }
        if (current.open.size >= sandboxLimits.openRequests || ++current.requests > sandboxLimits.requests) {
          throw new Refusal('RangeError', 'Too many requests');
        }
        current.open.add(id);
        send({ head: { type: 'request', id, kind, value }, bytes: Uint8Array.from(bytes) });
        return undefined;
      }
      case 'cancel':
        if (current.open.delete(payload as number)) send({ head: { type: 'cancel', id: payload as number } });
        return undefined;
      case 'result': {
        const result = JSON.stringify(payload);
        if (Buffer.byteLength(result) > sandboxLimits.resultBytes) throw new Refusal('RangeError', resultTooLarge);
        settle({ kind: 'result', result, logs: current.log.lines });
        return undefined;
      }
      case 'error':
        settle({ kind: 'error', error: describeThrown(payload), logs: current.log.lines });
        return undefined;
      default:
        throw new Refusal('Error', 'Unknown operation');
    }
  }

  // During an operation the engine is still on the stack, so the run is finished only after it has returned.
  let settled: Outcome | null = null;
  const settle = (outcome: Outcome): void => {
    settled ??= outcome;
  };

  function proceed(step: Step): void {
    if (run === null) return;
    if (settled) return finish(settled);
    switch (step.kind) {
      case 'idle':
        return;
      case 'pending':
        setImmediate(() => run !== null && proceed(engine.continue()));
        return;
      case 'interrupted':
        return finish({ kind: 'timeout' });
      case 'thrown':
        return finish({ kind: 'error', error: toHandlerError(step.error), logs: run.log.lines });
    }
  }

  function finish(outcome: Outcome): void {
    if (run === null) return;
    clearTimeout(run.deadline);
    for (const timer of run.timers.values()) clearTimeout(timer);
    run = null;
    settled = null;
    send({ head: { type: 'done', outcome } });
    // The reset starts after the answer is sent. The next run waits for it.
    const reset = engine.reset().then(() => {
      if (resetting === reset) resetting = null;
    });
    resetting = reset;
  }

  return {
    engine,
    async start({ code, args, context, timeoutMs }: Extract<ToSandbox, { type: 'run' }>): Promise<void> {
      if (resetting) await resetting;
      const until = performance.now() + timeoutMs;
      run = {
        log: createRunLog(),
        timers: new Map(),
        open: new Set(),
        requests: 0,
        deadline: setTimeout(() => finish({ kind: 'timeout' }), timeoutMs),
      };
      proceed(engine.start(code, args, context, until));
    },
    reply(id: number, value: unknown, bytes?: Uint8Array): void {
      if (run?.open.delete(id)) proceed(engine.deliver('reply', id, JSON.stringify(value), bytes));
    },
  };
}

function describeThrown(payload: unknown): HandlerError {
  const { name, message, stack } = payload as Record<string, unknown>;
  return toHandlerError({ name: textOf(name), message: textOf(message) ?? 'The handler failed', stack: textOf(stack) });
}
