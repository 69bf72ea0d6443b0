import {
  type ExecutionStep,
  chunksPerAttempt,
  findEndedAmong,
  readExecution,
  readSteps,
  type StoredExecution,
  streamedFinishReason,
} from '@parley/agents';
import type { Scope } from '@parley/contracts';
import type { Db } from '@parley/db';
import type { ExecutionBells, ExecutionChunks, NumberedChunk } from '@parley/redis';

export type ExecutionStreams = ReturnType<typeof createExecutionStreams>;

export interface ExecutionStreamDeps {
  db: Db;
  chunks: ExecutionChunks;
  bells: ExecutionBells;
}

const pageSize = 200;
/** Time between two looks for the end of executions and for chunks, in case a message of Redis is lost. */
const lookEveryMs = 1_000;
/** Numbers from here on belong to chunks that are made from the stored execution. */
const firstMade = 9 * chunksPerAttempt;
/** The last number of an execution without an answer. */
const lastNumber = firstMade + chunksPerAttempt - 1;

/**
 * The chunks of executions for their readers: those that the running turn writes to Redis, and where Redis has lost them the
 * ones that are made from the stored execution (docs/adr/0062).
 */
export function createExecutionStreams({ db, chunks, bells }: ExecutionStreamDeps) {
  const watched = new Map<string, { tenant: number; listeners: Set<(mayHaveEnded: boolean) => void> }>();
  let timer: NodeJS.Timeout | undefined;

  /** Looks for the end of all executions that have readers here, with one statement for each tenant. */
  async function look(): Promise<void> {
    const byTenant = Map.groupBy(watched, ([, { tenant }]) => tenant);
    const looks = [...byTenant].map(([tenant, entries]) =>
      findEndedAmong(
        db,
        tenant,
        entries.map(([id]) => id),
      ),
    );
    // While the database is unavailable, the readers wait.
    const found = await Promise.allSettled(looks);
    const ended = new Set(found.flatMap((one) => (one.status === 'fulfilled' ? one.value : [])));
    for (const [id, { listeners }] of watched) for (const listener of listeners) listener(ended.has(id));
    timer = watched.size === 0 ? undefined : setTimeout(() => void look(), lookEveryMs);
  }

  function watch(tenant: number, id: string, listener: (mayHaveEnded: boolean) => void): () => void {
    const entry = watched.get(id) ?? { tenant, listeners: new Set() };
    watched.set(id, entry);
    entry.listeners.add(listener);
    timer ??= setTimeout(() => void look(), lookEveryMs);
    const stopListening = bells.listen(id, listener);
    return () => {
      stopListening();
      entry.listeners.delete(listener);
      if (entry.listeners.size === 0) watched.delete(id);
    };
  }

  return {
    /**
     * The chunks after the number `after`, until the end of the execution. Those of an execution that has been lost in
     * between follow a `reset-step`.
     */
    async *read(
      scope: Scope,
      id: string,
      { after, signal }: { after: number; signal: AbortSignal },
    ): AsyncGenerator<NumberedChunk> {
      let position = after;
      let isLost = after >= firstMade;
      let mayHaveEnded = true;
      let woken = Promise.withResolvers<void>();
      const notice = (isEnd: boolean) => {
        mayHaveEnded ||= isEnd;
        woken.resolve();
      };
      const unwatch = watch(scope.tenant, id, notice);
      const stop = () => woken.resolve();
      signal.addEventListener('abort', stop);
      try {
        while (!signal.aborted) {
          woken = Promise.withResolvers();
          // The end is read before the chunks, which are then complete.
          const isAsked: boolean = mayHaveEnded;
          mayHaveEnded = false;
          const ended: StoredExecution | null = isAsked ? await readEnded(db, scope, id) : null;
          const page = isLost ? [] : await chunks.read(id, position, pageSize).catch(() => []);
          let isHeld = false;
          for (const one of page) {
            isLost = one.seq !== position + 1 && one.seq % chunksPerAttempt !== 1;
            // The end is sent when the reply is stored.
            isHeld = one.chunk.type === 'finish';
            if (isLost || isHeld) break;
            position = one.seq;
            yield one;
          }
          mayHaveEnded ||= ended !== null;
          if (page.length === pageSize && !isLost && !isHeld) continue;
          if (ended === null) await woken.promise;
          else return yield* endOf(scope, ended, position);
        }
      } finally {
        signal.removeEventListener('abort', stop);
        unwatch();
      }
    },
  };

  async function* endOf(scope: Scope, execution: StoredExecution, position: number): AsyncGenerator<NumberedChunk> {
    const { id, status, error } = execution;
    if (status === 'succeeded') {
      const last = await chunks.last(id).catch(() => null);
      if (last?.chunk.type === 'finish' && last.seq === position) return;
      if (last?.chunk.type === 'finish' && last.seq === position + 1) return yield last;
      const made = chunksOf(execution, await readSteps(db, scope, execution));
      for (const [at, chunk] of made.entries()) {
        const seq = firstMade + at + 1;
        if (seq > position && !(position === 0 && chunk.type === 'reset-step')) yield { seq, chunk };
      }
      return;
    }
    if (position >= lastNumber) return;
    // A person has taken the thread over: what was written is not an answer.
    if (status === 'stored') yield { seq: lastNumber - 1, chunk: { type: 'reset-step' } };
    yield {
      seq: lastNumber,
      chunk:
        status === 'cancelled'
          ? { type: 'abort' }
          : status === 'stored'
            ? { type: 'finish', finishReason: 'other' }
            : { type: 'error', errorText: status === 'stalled' ? 'interrupted' : (error ?? 'failed') },
    };
  }
}

async function readEnded(db: Db, scope: Scope, id: string): Promise<StoredExecution | null> {
  const execution = await readExecution(db, scope, id).catch(() => null);
  return execution === null || ['queued', 'running'].includes(execution.status) ? null : execution;
}

/** The chunks of an execution that has succeeded, made from its row. */
function chunksOf(
  { id, output, finishReason, inputTokens, outputTokens }: StoredExecution,
  steps: ExecutionStep[],
): NumberedChunk['chunk'][] {
  const text = 'text-stored';
  const usage = { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
  return [
    { type: 'start', messageId: id },
    { type: 'reset-step' },
    ...steps.flatMap(chunksOfStep),
    { type: 'start-step' },
    { type: 'text-start', id: text },
    { type: 'text-delta', id: text, delta: output ?? '' },
    { type: 'text-end', id: text },
    { type: 'finish-step' },
    { type: 'finish', finishReason: streamedFinishReason(finishReason ?? 'stop'), messageMetadata: { usage } },
  ];
}

function chunksOfStep(step: ExecutionStep): NumberedChunk['chunk'][] {
  if (step.type === 'model') return [];
  const call = { toolCallId: step.callId, dynamic: true };
  return [
    { type: 'start-step' },
    { type: 'tool-input-available', ...call, toolName: step.name, input: step.arguments },
    step.status === 'success'
      ? { type: 'tool-output-available', ...call, output: step.result }
      : { type: 'tool-output-error', ...call, errorText: step.errorMessage ?? step.status },
    { type: 'finish-step' },
  ];
}
