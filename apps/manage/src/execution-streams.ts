import {
  type ExecutionStep,
  chunksPerAttempt,
  findEndedAmong,
  hasEnded,
  readExecution,
  readSteps,
  type StoredExecution,
  streamedFinishReason,
} from '@parley/agents';
import type { Json, Scope } from '@parley/contracts';
import type { Db } from '@parley/db';
import { createSlots } from '@parley/outbound';
import type { ExecutionBells, ExecutionChunks, NumberedChunk } from '@parley/redis';

export type ExecutionStreams = ReturnType<typeof createExecutionStreams>;

export interface ExecutionStreamDeps {
  db: Db;
  chunks: ExecutionChunks;
  bells: ExecutionBells;
}

/**
 * Chunks that are read together. Fewer when they are large: a stream holds what its
 * client has not read.
 */
const pageSize = { largest: 200, smallest: 4 };
const maxHeldChars = 64 * 1_024;
/**
 * Arguments and results above these sizes, in characters of JSON, are left out of an ended
 * execution, as while it runs.
 */
const maxValueChars = 16 * 1_024;
const maxValuesChars = 128 * 1_024;
/** Pieces of a text, of up to 8,000 characters. */
const pieces = /.{1,8000}/gsu;
/** Streams of a process that send a long reply from the database at the same time. */
const maxLongReplies = 32;
const longReplyChars = 64 * 1_024;
/**
 * Time between two looks for the end of executions and for chunks, in case a message
 * of Redis is lost.
 */
const lookEveryMs = 1_000;
/** Numbers from here on belong to chunks that are made from the stored execution. */
const firstMade = 9 * chunksPerAttempt;
/** The last number of an execution without an answer. */
const lastNumber = firstMade + chunksPerAttempt - 1;

/**
 * The chunks of executions for their readers: those that the running turn writes to Redis, and
 * where Redis has lost them the ones that are made from the stored execution (docs/adr/0062).
 */
export function createExecutionStreams({ db, chunks, bells }: ExecutionStreamDeps) {
  const watched = new Map<
    string,
    { tenant: number; listeners: Set<(mayHaveEnded: boolean) => void> }
  >();
  let timer: NodeJS.Timeout | undefined;
  const longReplies = createSlots({ total: maxLongReplies });

  /**
   * Looks for the end of all executions that have readers here, with one statement for each tenant.
   */
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
    for (const [id, { listeners }] of watched)
      for (const listener of listeners) listener(ended.has(id));
    timer = watched.size === 0 ? undefined : setTimeout(() => void look(), lookEveryMs);
  }

  function watch(
    tenant: number,
    id: string,
    listener: (mayHaveEnded: boolean) => void,
  ): () => void {
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
    /** Resolves when an execution has ended, after `waitMs`, or when the signal is aborted. */
    async waitForEnd(
      scope: Scope,
      id: string,
      options: { waitMs: number; signal: AbortSignal },
    ): Promise<void> {
      let isOver = options.signal.aborted;
      let woken = Promise.withResolvers<void>();
      const unwatch = watch(scope.tenant, id, (mayHaveEnded) => {
        if (mayHaveEnded) woken.resolve();
      });
      const stop = () => {
        isOver = true;
        woken.resolve();
      };
      const timer = setTimeout(stop, options.waitMs);
      options.signal.addEventListener('abort', stop);
      try {
        while (!isOver) {
          woken = Promise.withResolvers();
          if (await hasEnded(db, scope, id)) return;
          if (!isOver) await woken.promise;
        }
      } finally {
        clearTimeout(timer);
        options.signal.removeEventListener('abort', stop);
        unwatch();
      }
    },
    /**
     * The chunks after the number `after`, until the end of the execution. Those of an execution
     * that has been lost in between follow a `reset-step`.
     */
    async *read(
      scope: Scope,
      id: string,
      { after, signal }: { after: number; signal: AbortSignal },
    ): AsyncGenerator<NumberedChunk> {
      let position = after;
      let count = pageSize.largest;
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
          const page = isLost ? [] : await chunks.read(id, position, count).catch(() => []);
          const held = heldOf(page);
          const hasMore = page.length === count || held.length < page.length;
          count = nextCount(count, held.length < page.length);
          let isHeld = false;
          for (const one of held) {
            isLost = one.seq !== position + 1 && one.seq % chunksPerAttempt !== 1;
            // The end is sent when the reply is stored.
            isHeld = one.chunk.type === 'finish';
            if (isLost || isHeld) break;
            position = one.seq;
            yield one;
          }
          mayHaveEnded ||= ended !== null;
          if (hasMore && !isLost && !isHeld) continue;
          if (ended === null) await woken.promise;
          else return yield* endOf(scope, ended, position);
        }
      } finally {
        signal.removeEventListener('abort', stop);
        unwatch();
      }
    },
  };

  /**
   * The chunks of the stored execution. A stream that has to wait for its turn ends, and its
   * client connects again.
   */
  async function* madeOf(
    scope: Scope,
    execution: StoredExecution,
    position: number,
  ): AsyncGenerator<NumberedChunk> {
    const made = chunksOf(execution, await readSteps(db, scope, execution));
    const isLong = JSON.stringify(made).length > longReplyChars;
    const release = isLong ? longReplies.tryAcquire(String(scope.tenant)) : () => {};
    if (release === null)
      throw new Error('Too many long replies of the organization are being sent');
    try {
      for (const [at, chunk] of made.entries()) {
        const seq = firstMade + at + 1;
        if (seq > position && !(position === 0 && chunk.type === 'reset-step'))
          yield { seq, chunk };
      }
    } finally {
      release();
    }
  }

  async function* endOf(
    scope: Scope,
    execution: StoredExecution,
    position: number,
  ): AsyncGenerator<NumberedChunk> {
    const { id, status, error } = execution;
    if (status === 'succeeded') {
      const last = await chunks.last(id).catch(() => null);
      if (last?.chunk.type === 'finish' && last.seq === position) return;
      if (last?.chunk.type === 'finish' && last.seq === position + 1) return yield last;
      return yield* madeOf(scope, execution, position);
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
            : {
                type: 'error',
                errorText: status === 'stalled' ? 'interrupted' : (error ?? 'failed'),
              },
    };
  }
}

/** The first chunks of a page, up to the size that a stream holds; at least one. */
function heldOf(page: readonly NumberedChunk[]): readonly NumberedChunk[] {
  let leftChars = maxHeldChars;
  const end = page.findIndex(({ chunk }, index) => (leftChars -= charsOf(chunk)) < 0 && index > 0);
  return end === -1 ? page : page.slice(0, end);
}

const charsOf = (chunk: NumberedChunk['chunk']): number =>
  typeof chunk.delta === 'string' ? chunk.delta.length : JSON.stringify(chunk).length;

const nextCount = (count: number, isTooMany: boolean): number =>
  isTooMany ? Math.max(pageSize.smallest, count >> 2) : Math.min(pageSize.largest, count * 2);

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
    ...steps.flatMap(createStepChunks()),
    { type: 'start-step' },
    { type: 'text-start', id: text },
    ...(output?.match(pieces) ?? ['']).map((delta) => ({ type: 'text-delta', id: text, delta })),
    { type: 'text-end', id: text },
    { type: 'finish-step' },
    {
      type: 'finish',
      finishReason: streamedFinishReason(finishReason ?? 'stop'),
      messageMetadata: { usage },
    },
  ];
}

function createStepChunks() {
  let leftChars = maxValuesChars;
  const shown = (value: Json): Json => {
    const { length } = JSON.stringify(value);
    if (length > maxValueChars || length > leftChars) return null;
    leftChars -= length;
    return value;
  };
  return (step: ExecutionStep): NumberedChunk['chunk'][] => {
    if (step.type === 'model') return [];
    const call = { toolCallId: step.callId, dynamic: true };
    return [
      { type: 'start-step' },
      {
        type: 'tool-input-available',
        ...call,
        toolName: step.name,
        input: shown(step.arguments) ?? {},
      },
      step.status === 'success'
        ? { type: 'tool-output-available', ...call, output: shown(step.result) }
        : {
            type: 'tool-output-error',
            ...call,
            errorText: (step.errorMessage ?? step.status).slice(0, maxValueChars).toWellFormed(),
          },
      { type: 'finish-step' },
    ];
  };
}
