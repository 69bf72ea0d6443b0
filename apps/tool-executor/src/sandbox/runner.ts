import { type Engine, Refusal, createEngine, resultTooLarge } from './engine';
import { type Step, outOfMemory, textOf } from './engine-calls';
import type { Frame } from './frames';
import { toHandlerError } from './handler-error';
import { platformOps } from './platform-ops';
import { sandboxLimits } from './limits';
import type { FromSandbox, HandlerError, Outcome, ToSandbox } from './protocol';
import { type Redactor, createRedactor } from './redact';
import { createRunLog } from './run-log';

type Send = (frame: Frame<FromSandbox>) => void;

interface Run {
  /** Null for a run without secrets. */
  redactor: Redactor | null;
  log: ReturnType<typeof createRunLog>;
  timers: Map<number, NodeJS.Timeout>;
  /** The size of each open request. */
  open: Map<number, number>;
  openBytes: number;
  requests: number;
  deadline: NodeJS.Timeout;
}

interface Operation {
  kind: string;
  payload: unknown;
  bytes: Uint8Array;
  textChars: number;
}

/**
 * Runs one handler at a time in the engine, and performs its operations: timers, requests,
 * logs and the result.
 */
export async function createRunner(send: Send) {
  let run: Run | null = null;
  let resetting: Promise<void> | null = null;
  const engine: Engine = await createEngine(
    (kind, payload, bytes = new Uint8Array(), textChars) => {
      if (run === null) throw new Refusal('Error', 'Nothing is running');
      const platform = Object.hasOwn(platformOps, kind) ? platformOps[kind] : undefined;
      if (platform) return platform(payload as never, bytes);
      return perform(run, { kind, payload, bytes, textChars });
    },
  );

  function perform(current: Run, { kind, payload, bytes, textChars }: Operation): unknown {
    switch (kind) {
      case 'log': {
        const { level, message } = payload as { level: unknown; message: unknown };
        return current.log.write(level, message);
      }
      case 'timer': {
        const [id, waitMs] = payload as [number, number];
        if (current.timers.size >= sandboxLimits.timers)
          throw new Refusal('RangeError', 'Too many timers');
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
        if (
          current.open.size >= sandboxLimits.openRequests ||
          ++current.requests > sandboxLimits.requests
        ) {
          throw new Refusal('RangeError', 'Too many requests');
        }
        if (kind === 'tool') refuseSecrets(current.redactor, value);
        const size = bytes.length + textChars;
        if (current.openBytes + size > sandboxLimits.openBytes) {
          throw new Refusal(
            'RangeError',
            `Open requests may have ${sandboxLimits.openBytes} bytes together`,
          );
        }
        current.open.set(id, size);
        current.openBytes += size;
        send({ head: { type: 'request', id, kind, value }, bytes: Uint8Array.from(bytes) });
        return undefined;
      }
      case 'cancel':
        if (close(current, payload as number))
          send({ head: { type: 'cancel', id: payload as number } });
        return undefined;
      case 'result': {
        const result = JSON.stringify(current.redactor ? current.redactor.json(payload) : payload);
        if (Buffer.byteLength(result) > sandboxLimits.resultBytes)
          throw new Refusal('RangeError', resultTooLarge);
        settle({ kind: 'result', result, logs: current.log.lines });
        return undefined;
      }
      case 'error':
        settle({
          kind: 'error',
          error: describeThrown(payload, current.redactor, engine.isExhausted()),
          logs: current.log.lines,
        });
        return undefined;
      default:
        throw new Refusal('Error', 'Unknown operation');
    }
  }

  // During an operation the engine is still on the stack, so the run is finished only after
  // it has returned.
  let settled: Outcome | null = null;
  const settle = (outcome: Outcome): void => {
    settled ??= outcome;
  };

  function proceed(step: Step): void {
    if (run === null) return;
    // The engine may report its interrupt to the handler as an error: an async generator rejects
    // its promise with it.
    if (step.kind === 'interrupted' && settled?.kind === 'error')
      return finish({ kind: 'timeout' });
    if (settled) return finish(settled);
    switch (step.kind) {
      case 'idle':
        // Nothing can continue a run without timers and requests. There was no memory to
        // report how it ended.
        if (engine.isExhausted() && run.timers.size + run.open.size === 0)
          proceed({ kind: 'thrown', error: outOfMemory });
        return;
      case 'pending':
        setImmediate(() => run !== null && proceed(engine.continue()));
        return;
      case 'interrupted':
        return finish({ kind: 'timeout' });
      case 'thrown':
        return finish({
          kind: 'error',
          error: describeThrown(step.error, run.redactor, engine.isExhausted()),
          logs: run.log.lines,
        });
    }
  }

  function finish(outcome: Outcome): void {
    if (run === null) return;
    clearTimeout(run.deadline);
    for (const timer of run.timers.values()) clearTimeout(timer);
    run = null;
    settled = null;
    const mustReplace = engine.isExhausted() && engine.hasGrown();
    send({ head: { type: 'done', outcome, ...(mustReplace && { mustReplace }) } });
    if (mustReplace) return;
    // The reset starts after the answer is sent. The next run waits for it.
    const reset = engine.reset().then(() => {
      if (resetting === reset) resetting = null;
    });
    resetting = reset;
  }

  return {
    engine,
    async start({
      code,
      args,
      context,
      secrets,
      timeoutMs,
    }: Extract<ToSandbox, { type: 'run' }>): Promise<void> {
      if (resetting) await resetting;
      const until = performance.now() + timeoutMs;
      const redactor = secrets ? createRedactor(secrets) : null;
      run = {
        redactor,
        log: createRunLog(redactor?.text),
        timers: new Map(),
        open: new Map(),
        openBytes: 0,
        requests: 0,
        deadline: setTimeout(() => finish({ kind: 'timeout' }), timeoutMs),
      };
      send({ head: { type: 'begun' } });
      proceed(engine.start(code, args, context, until));
    },
    reply(id: number, value: unknown, bytes?: Uint8Array): void {
      if (run !== null && close(run, id))
        proceed(engine.deliver('reply', id, JSON.stringify(value), bytes));
    },
  };
}

/** Whether the request was open. */
function close(run: Run, id: number): boolean {
  run.openBytes -= run.open.get(id) ?? 0;
  return run.open.delete(id);
}

function describeThrown(
  payload: unknown,
  redactor: Redactor | null,
  isExhausted: boolean,
): HandlerError {
  const redacted = (value: unknown) => {
    const text = textOf(value);
    return text === undefined ? undefined : (redactor?.text(text) ?? text);
  };
  const { name, message, stack } = payload as Record<string, unknown>;
  const text = redacted(message) ?? 'The handler failed';
  return toHandlerError(
    { name: redacted(name), message: text, stack: redacted(stack) },
    isExhausted,
  );
}

/**
 * Arguments of tools are stored in events, entities and messages. `web.fetch` sends them
 * and stores nothing.
 */
function refuseSecrets(redactor: Redactor | null, value: unknown): void {
  const { tool, args } = value as { tool: unknown; args: unknown };
  const secret = tool === 'web.fetch' ? null : (redactor?.find(args) ?? null);
  if (secret !== null)
    throw new Refusal(
      'Error',
      `The arguments of ${String(tool)} contain the secret ${secret}. Only web.fetch may get it`,
    );
}
