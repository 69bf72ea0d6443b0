import type { Json } from '@parley/contracts';
import { keyPrefix } from './job-catalog';
import { type RedisConnection, openSubscriber } from './connect-redis';

/** One chunk of the stream of an execution, with its number. */
export interface NumberedChunk {
  seq: number;
  chunk: { type: string; [field: string]: Json };
}

/** `gap`: Redis has lost what was written before. `overtaken`: a later attempt writes. */
export type Appended = 'ok' | 'gap' | 'overtaken';

export type ExecutionChunks = ReturnType<typeof createExecutionChunks>;
export type ExecutionBells = ReturnType<typeof createExecutionBells>;

const ttlSeconds = 3_600;
const maxChunks = 20_000;
const keyOf = (executionId: string) => `${keyPrefix}:chunks:${executionId}`;
const bellOf = (executionId: string) => `${keyPrefix}:bell:${executionId}`;

/**
 * Appends after `expected`, or instead of everything when it is empty. Nothing is written behind a
 * chunk from `limit` on.
 */
const appendScript = `
local found = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
local last = found and found[1]:match('^%d+') or '0'
if tonumber(last) >= tonumber(ARGV[2]) then return 'overtaken' end
if ARGV[1] == '' then redis.call('DEL', KEYS[1]) elseif last ~= ARGV[1] then return 'gap' end
for at = 5, #ARGV, 2 do
  redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[4], ARGV[at] .. '-0', 'c', ARGV[at + 1])
end
redis.call('EXPIRE', KEYS[1], ARGV[3])
return 'ok'`;

/**
 * The chunks of executions that run or ended within the last hour. PostgreSQL has the truth:
 * everything here may be lost. `redis`: a connection of the role `producer`.
 */
export function createExecutionChunks(redis: RedisConnection) {
  redis.defineCommand('parleyAppendChunks', { numberOfKeys: 1, lua: appendScript });
  const append = (
    redis as RedisConnection & { parleyAppendChunks: (...args: unknown[]) => Promise<Appended> }
  ).parleyAppendChunks;
  const read = (entries: [string, string[]][]) =>
    entries.map(
      ([id, fields]) =>
        ({ seq: Number.parseInt(id), chunk: JSON.parse(fields[1]!) }) as NumberedChunk,
    );
  return {
    /**
     * Appends chunks after the one with the number `after`, and wakes the readers. `after` null:
     * instead of all others. Numbers from `limit` on belong to later attempts.
     */
    async append(
      executionId: string,
      chunks: readonly NumberedChunk[],
      { after, limit }: { after: number | null; limit: number },
    ): Promise<Appended> {
      const values = chunks.flatMap(({ seq, chunk }) => [seq, JSON.stringify(chunk)]);
      const head = [after ?? '', limit, ttlSeconds, maxChunks];
      const appended = await append.call(redis, keyOf(executionId), ...head, ...values);
      if (appended === 'ok') await redis.publish(bellOf(executionId), '');
      return appended;
    },
    /** The chunks after a number, in their order. */
    read: async (executionId: string, after: number, limit: number): Promise<NumberedChunk[]> =>
      read(await redis.xrange(keyOf(executionId), `(${after}-0`, '+', 'COUNT', limit)),
    async last(executionId: string): Promise<NumberedChunk | null> {
      return read(await redis.xrevrange(keyOf(executionId), '+', '-', 'COUNT', 1))[0] ?? null;
    },
    /** Wakes the readers of an execution that has ended. */
    ring: (executionId: string): void =>
      void redis.publish(bellOf(executionId), 'end').catch(() => {}),
  };
}

/**
 * Wakes the readers of this process. `redis`: a connection of the role `worker`, of which
 * one more is opened.
 */
export function createExecutionBells(redis: RedisConnection) {
  const listeners = new Map<string, Set<(isEnd: boolean) => void>>();
  const subscriber = openSubscriber(redis, (bell, text) => {
    for (const listener of listeners.get(bell) ?? []) listener(text === 'end');
  });
  return {
    /**
     * Calls the listener when chunks were appended or the execution has ended, until the returned
     * function is called.
     */
    listen(executionId: string, listener: (isEnd: boolean) => void): () => void {
      const bell = bellOf(executionId);
      const others = listeners.get(bell) ?? new Set();
      if (others.size === 0) subscriber.subscribe(bell);
      listeners.set(bell, others.add(listener));
      return () => {
        others.delete(listener);
        if (others.size > 0) return;
        listeners.delete(bell);
        subscriber.unsubscribe(bell);
      };
    },
    close: subscriber.close,
  };
}
