import type { LogLine } from '@parley/contracts';
import type { z } from 'zod';
import type { Frame } from './frames';
import type { Lease } from './pool';
import type { CompileResult, FromSandbox, HandlerError } from './protocol';
import { yieldToOthers } from './yield-to-others';
import { compileReplySchema, outcomeSchema, requestSchema } from './reply-schemas';

/** How a call ended, as the service sees it. */
export type RunResult =
  | { kind: 'result'; result: unknown; logs: LogLine[] }
  | { kind: 'error'; error: HandlerError; logs: LogLine[] }
  | { kind: 'timeout' };

export interface RunInput {
  code: string;
  /** JSON texts. */
  args: string;
  context: string;
  timeoutMs: number;
}

/** Answers what the handler asks of the service. Never rejects; the signal is aborted when the run is over. */
export type AnswerRequest = (
  request: { kind: 'fetch' | 'tool'; value: unknown; body?: Uint8Array },
  signal: AbortSignal,
) => Promise<{ value: unknown; bytes?: Uint8Array }>;

/** Past the limit, how long the engine gets to notice by itself before its process is killed. */
const graceMs = 150;
const maxRequests = 2000;
const runIsOver = new Error('The run is over');
const endedText = 'The sandbox process ended: a resource limit was exceeded';

/** Runs a handler in a leased process and gives the process back, or has it replaced. */
export function runHandler(
  lease: Lease,
  input: RunInput,
  answer: AnswerRequest,
  /** Aborted when nobody waits for the result any more. */
  signal?: AbortSignal,
): Promise<RunResult> {
  const { process } = lease;
  return new Promise((resolve) => {
    const open = new Map<number, AbortController>();
    let requests = 0;
    let isOver = false;
    const finish = (result: RunResult, isReusable: boolean) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(deadline);
      clearTimeout(deadlineOfGrace);
      signal?.removeEventListener('abort', abandon);
      for (const request of open.values()) request.abort(runIsOver);
      const isAsBefore = recover();
      if (isReusable && isAsBefore) lease.release();
      else lease.discard();
      resolve(result);
    };
    const distrust = () => finish({ kind: 'error', error: { message: endedText }, logs: [] }, false);
    const recover = yieldToOthers(process.pid);
    const abandon = () => finish({ kind: 'timeout' }, false);
    const deadline = setTimeout(() => {
      // With its precedence back it has a chance to say so itself; then it need not be replaced.
      recover();
      deadlineOfGrace = setTimeout(abandon, graceMs);
    }, input.timeoutMs);
    let deadlineOfGrace: NodeJS.Timeout | undefined;
    signal?.addEventListener('abort', abandon, { once: true });
    const onFrame = ({ head, bytes }: Frame<FromSandbox>) => {
      switch (head.type) {
        case 'done': {
          const outcome = outcomeSchema.safeParse(head.outcome);
          const result = outcome.success ? toResult(outcome.data) : null;
          return result ? finish(result, true) : distrust();
        }
        case 'request': {
          const request = requestSchema.safeParse(head);
          if (!request.success || ++requests > maxRequests) return distrust();
          const { id, kind, value } = request.data;
          const cancel = new AbortController();
          open.set(id, cancel);
          void answer({ kind, value, body: bytes }, cancel.signal).then((reply) => {
            open.delete(id);
            // Numbers of questions start anew with each run; an answer after the end would reach the next one.
            if (!isOver) process.send({ head: { type: 'reply', id, value: reply.value }, bytes: reply.bytes });
          });
          return;
        }
        case 'cancel':
          return open.get(head.id)?.abort(runIsOver);
        default:
          return distrust();
      }
    };
    process.listen({ onFrame, onExit: distrust });
    process.send({ head: { type: 'run', ...input } });
  });
}

/** Parses a handler in a leased process that runs none. */
export function compileInProcess(lease: Lease, code: string, timeoutMs: number): Promise<CompileResult> {
  return new Promise((resolve) => {
    let isOver = false;
    const finish = (result: CompileResult, isReusable: boolean) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(deadline);
      if (isReusable) lease.release();
      else lease.discard();
      resolve(result);
    };
    const tooHard = () => finish({ ok: false, error: 'The code is too large or too deeply nested to parse' }, false);
    const deadline = setTimeout(tooHard, timeoutMs);
    const onFrame = ({ head }: Frame<FromSandbox>) => {
      const reply = compileReplySchema.safeParse(head);
      return reply.success ? finish(reply.data.result, !reply.data.isWorn) : tooHard();
    };
    lease.process.listen({ onFrame, onExit: tooHard });
    lease.process.send({ head: { type: 'compile', code } });
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
