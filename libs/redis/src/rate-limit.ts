import { LRUCache } from 'lru-cache';
import type { RedisConnection } from './connect-redis';

export interface RateLimits {
  /** Maximum number of requests of one API key in any window. */
  perKey: number;
  /** Maximum number of requests of all API keys of one organization in any window. */
  perOrganization: number;
  windowMs: number;
}

/**
 * 60 requests a minute for each API key and 200 for each organization
 * (docs/reference/limits.md#rate-limits).
 */
const defaultLimits: RateLimits = { perKey: 60, perOrganization: 200, windowMs: 60_000 };

export interface RateLimiterOptions {
  /** A connection of the role `limiter`. */
  redis: RedisConnection;
  /** Separates the counters of several limiters. Default: those of the Data API. */
  name?: string;
  limits?: Partial<RateLimits>;
  /**
   * Time without an answer from Redis after which waiting requests are admitted. Default 250 ms.
   */
  deadlineMs?: number;
  /** Called for each request about which Redis did not answer. */
  onSkip?: () => void;
}

interface Limited {
  id: string;
  organizationId: string;
}

export type RateLimiter = ReturnType<typeof createRateLimiter>;

const maxKnownKeys = 10_000;
const defaultDeadlineMs = 250;
const probeEveryMs = 250;
/** The deadline is checked in this many steps. */
const ticks = 2;

/**
 * Checks both limits atomically, by the clock of Redis. Each key in Redis is a list of the times of
 * the last admitted requests, newest first and not longer than its limit. A request is admitted
 * when the entry at the position of the limit is older than the window; a refused request is not
 * recorded. When the clock is set back, entries are in the future and delay requests a little
 * longer. A list whose entry is more than a window ahead is deleted. Returns the wait in
 * milliseconds, 0 for an admitted request.
 */
const admitScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local window = tonumber(ARGV[1])
local wait = 0
for i = 1, 2 do
  local oldest = tonumber(redis.call('LINDEX', KEYS[i], ARGV[i + 1] - 1) or 0)
  if oldest > now + window then redis.call('DEL', KEYS[i])
  else wait = math.max(wait, oldest + window + 1 - now) end
end
if wait > 0 then return wait end
for i = 1, 2 do
  local length = redis.call('LPUSH', KEYS[i], now)
  local limit = tonumber(ARGV[i + 1])
  if length > limit then redis.call('LTRIM', KEYS[i], 0, limit - 1) end
  redis.call('PEXPIRE', KEYS[i], window + 1)
end
return 0`;

type AdmitCommand = (
  keyList: string,
  organizationList: string,
  ...args: number[]
) => Promise<number>;

/**
 * A rate limiter: exact in any window, over any number of processes. While Redis is unavailable,
 * requests are admitted: immediately when the connection is down or Redis is known to be silent,
 * otherwise after `deadlineMs`.
 */
export function createRateLimiter(options: RateLimiterOptions) {
  const { redis, name = 'rate', limits, deadlineMs = defaultDeadlineMs, onSkip } = options;
  const { perKey, perOrganization, windowMs } = { ...defaultLimits, ...limits };
  redis.defineCommand('parleyAdmit', { numberOfKeys: 2, lua: admitScript });
  const ask = (redis as RedisConnection & { parleyAdmit: AdmitCommand }).parleyAdmit.bind(redis);
  const blocked = createBlockedKeys();
  const monitor = createSilenceMonitor(redis, deadlineMs);
  const skip = (): number => {
    onSkip?.();
    return 0;
  };
  /** The list of a key. A person has one in each organization. */
  const listOf = ({ id, organizationId }: Limited) => `${name}:{${organizationId}}:key:${id}`;
  const blockedUntil = (caller: Limited): number => blocked.untilMs(listOf(caller));

  return {
    /**
     * The Unix milliseconds until which a key is known to be refused without asking Redis, or 0.
     */
    blockedUntil,
    /** Returns 0, or the Unix milliseconds at which the next request is admitted. Never rejects. */
    admit(caller: Limited): number | Promise<number> {
      const blockedUntilMs = blockedUntil(caller);
      if (blockedUntilMs > 0) return blockedUntilMs;
      if (!monitor.isAnswering()) return skip();
      const list = listOf(caller);
      const organizationList = `${name}:{${caller.organizationId}}`;
      const askedAtMs = performance.now();
      const answer = ask(list, organizationList, windowMs, perKey, perOrganization);
      return monitor.answerOf(answer).then((waitMs) => {
        if (waitMs === null) return skip();
        return waitMs > 0 ? blocked.add(list, waitMs, askedAtMs) : 0;
      });
    },
    close: (): void => monitor.close(),
  };
}

/** The API keys that are refused without asking Redis. */
function createBlockedKeys() {
  // The clock is read at each look-up, so that a wait ends exactly.
  const keys = new LRUCache<string, number>({ max: maxKnownKeys, ttlResolution: 0 });
  return {
    untilMs: (keyId: string): number => keys.get(keyId) ?? 0,
    /**
     * The wait begins when Redis was asked; the returned end counts from its answer, so no key is
     * blocked beyond that.
     */
    add(keyId: string, waitMs: number, askedAtMs: number): number {
      // Plus 1, because both clocks were rounded down to milliseconds.
      const retryAtMs = Date.now() + waitMs + 1;
      keys.set(keyId, retryAtMs, { ttl: waitMs, start: askedAtMs });
      return retryAtMs;
    },
  };
}

/**
 * Ends the wait for answers when Redis has not answered any command for `deadlineMs`, and finds out
 * when it answers again.
 */
function createSilenceMonitor(redis: RedisConnection, deadlineMs: number) {
  const waiting = new Set<() => void>();
  let answers = 0;
  let timer: NodeJS.Timeout | undefined;
  let isSilent = false;
  let isClosed = false;

  /**
   * One timer for all commands. A timer that fires late shows that this process was busy, not that
   * Redis is silent.
   */
  function watch(answersBefore: number, silentTicks: number): void {
    const dueAtMs = performance.now() + deadlineMs / ticks;
    timer = setTimeout(() => {
      // Answers that have already reached the socket are read before this callback.
      setImmediate(() => {
        timer = undefined;
        if (waiting.size === 0 || isClosed) return;
        const isOnTime = performance.now() - dueAtMs < deadlineMs / ticks;
        const silent = answers !== answersBefore ? 0 : isOnTime ? silentTicks + 1 : silentTicks;
        if (silent < ticks) return watch(answers, silent);
        isSilent = true;
        for (const giveUp of waiting) giveUp();
        probe();
      });
    }, deadlineMs / ticks).unref();
  }

  /**
   * Sends PING until Redis answers. A connection that stays silent is replaced after its
   * `socketTimeout`.
   */
  function probe(): void {
    redis.ping().then(
      () => void (isSilent = false),
      () => void (isClosed || setTimeout(probe, probeEveryMs).unref()),
    );
  }

  return {
    isAnswering: () => !isSilent && redis.status === 'ready',
    /** Resolves with the answer, or with null when the command fails or Redis is silent. */
    answerOf: <T>(answer: Promise<T>): Promise<T | null> =>
      new Promise((resolve) => {
        if (timer === undefined) watch(answers, 0);
        const settle = (value: T | null) => {
          waiting.delete(giveUp);
          resolve(value);
        };
        const giveUp = () => settle(null);
        waiting.add(giveUp);
        answer.then((value) => {
          answers += 1;
          settle(value);
        }, giveUp);
      }),
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
