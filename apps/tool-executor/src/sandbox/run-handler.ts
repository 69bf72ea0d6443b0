import type { LogLine } from '@parley/contracts';
import { type Slots, createSlots } from '@parley/outbound';
import type { z } from 'zod';
import type { ReceivedFrame } from './frames';
import type { AcquiredProcess } from './pool';
import type { CompileResult, FromSandbox, HandlerError } from './protocol';
import { sandboxLimits } from './limits';
import { lowerPriorityWhenBusy } from './process-priority';
import { compileReplySchema, outcomeSchema, requestSchema } from './reply-schemas';

/** How a run ended. */
export type RunResult =
  | { kind: 'result'; result: unknown; logs: LogLine[] }
  | { kind: 'error'; error: HandlerError; logs: LogLine[] }
  | { kind: 'timeout' }
  /** The process ended before the handler started, so it can be run elsewhere. */
  | { kind: 'not_begun' };

export interface RunInput {
  code: string;
  /** JSON text, as is `context`. */
  args: string;
  context: string;
  /** Values in `context` that must not leave the sandbox, by name. */
  secrets?: Record<string, string>;
  timeoutMs: number;
}

/** Answers a request of the handler. Never rejects. The signal is aborted when the run is over. */
export type RequestHandler = (
  request: { kind: 'fetch' | 'tool'; value: unknown; body?: Uint8Array },
  signal: AbortSignal,
) => Promise<{ value: unknown; bytes?: Uint8Array }>;

/**
 * Time after the limit in which the engine can report the timeout itself, before its
 * process is killed.
 */
const graceMs = 150;
const maxRequests = 2000;
/** Requests of one run that are sent at the same time. Further ones wait in order. */
const maxConcurrent = 8;
/** More than the runner lets a run open, as it counts a cancelled request for less time. */
const maxOpenBytes = 2 * sandboxLimits.openBytes;
const aborted: Awaited<ReturnType<RequestHandler>> = {
  value: { ok: false, message: 'The request was aborted' },
};
const runIsOver = new Error('The run is over');
const endedText = 'The sandbox process ended: a resource limit was exceeded';

/** Runs a handler in an acquired process, then releases the process or has it replaced. */
export function runHandler(
  acquired: AcquiredProcess,
  input: RunInput,
  answer: RequestHandler,
  /** Aborted when the result is no longer needed. */
  signal?: AbortSignal,
): Promise<RunResult> {
  const { process } = acquired;
  return new Promise((resolve) => {
    const open = new Map<number, AbortController>();
    let slots: Slots | undefined;
    let requests = 0;
    let openBytes = 0;
    let hasBegun = false;
    let isOver = false;
    const finish = (result: RunResult, isReusable: boolean) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(deadline);
      clearTimeout(graceTimer);
      signal?.removeEventListener('abort', abandon);
      for (const request of open.values()) request.abort(runIsOver);
      const isRestored = restorePriority();
      if (isReusable && isRestored) acquired.release();
      else acquired.discard();
      resolve(result);
    };
    const endAsBroken = () =>
      finish({ kind: 'error', error: { message: endedText }, logs: [] }, false);
    const onExit = () => (hasBegun ? endAsBroken() : finish({ kind: 'not_begun' }, false));
    const restorePriority = lowerPriorityWhenBusy(process.pid);
    const abandon = () => finish({ kind: 'timeout' }, false);
    const deadline = setTimeout(() => {
      // With its normal priority the process may report the timeout in time, and then need
      // not be replaced.
      restorePriority();
      graceTimer = setTimeout(abandon, graceMs);
    }, input.timeoutMs);
    let graceTimer: NodeJS.Timeout | undefined;
    signal?.addEventListener('abort', abandon, { once: true });
    /**
     * Holds the slot until the process has the answer, which bounds the memory that
     * answers take here.
     */
    const serve = async (
      request: z.output<typeof requestSchema>,
      body: Uint8Array | undefined,
      size: number,
    ) => {
      const { id, kind, value } = request;
      const cancel = new AbortController();
      open.set(id, cancel);
      openBytes += size;
      slots ??= createSlots({ total: maxConcurrent, perKey: maxConcurrent });
      const leave = await slots.acquire('', cancel.signal, input.timeoutMs);
      const reply = leave === null ? aborted : await answer({ kind, value, body }, cancel.signal);
      open.delete(id);
      openBytes -= size;
      // Each run numbers its requests from 1, so a late answer would reach a request
      // of the next run.
      if (!isOver)
        await process.send({ head: { type: 'reply', id, value: reply.value }, bytes: reply.bytes });
      leave?.();
    };
    const onFrame = ({ head, bytes, size }: ReceivedFrame<FromSandbox>) => {
      switch (head.type) {
        case 'begun':
          hasBegun = true;
          return;
        case 'done': {
          const outcome = outcomeSchema.safeParse(head.outcome);
          const result = outcome.success ? toResult(outcome.data) : null;
          return result ? finish(result, head.mustReplace !== true) : endAsBroken();
        }
        case 'request': {
          const request = requestSchema.safeParse(head);
          if (!request.success || ++requests > maxRequests || openBytes + size > maxOpenBytes)
            return endAsBroken();
          return void serve(request.data, bytes, size);
        }
        case 'cancel':
          return open.get(head.id)?.abort(runIsOver);
        default:
          return endAsBroken();
      }
    };
    process.listen({ onFrame, onExit });
    void process.send({ head: { type: 'run', ...input } });
  });
}

/** Parses a handler in a process that runs none. */
export function compileInProcess(
  acquired: AcquiredProcess,
  code: string,
  timeoutMs: number,
): Promise<CompileResult> {
  return new Promise((resolve) => {
    let isOver = false;
    const finish = (result: CompileResult, isReusable: boolean) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(deadline);
      if (isReusable) acquired.release();
      else acquired.discard();
      resolve(result);
    };
    const tooHard = () =>
      finish({ ok: false, error: 'The code is too large or too deeply nested to parse' }, false);
    const deadline = setTimeout(tooHard, timeoutMs);
    const onFrame = ({ head }: ReceivedFrame<FromSandbox>) => {
      const reply = compileReplySchema.safeParse(head);
      return reply.success ? finish(reply.data.result, !reply.data.mustReplace) : tooHard();
    };
    acquired.process.listen({ onFrame, onExit: tooHard });
    void acquired.process.send({ head: { type: 'compile', code } });
  });
}

function toResult(outcome: z.output<typeof outcomeSchema>): RunResult | null {
  if (outcome.kind !== 'result') return outcome;
  try {
    return { ...outcome, result: JSON.parse(outcome.result) as unknown };
  } catch {
    return null;
  }
}
