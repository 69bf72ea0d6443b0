import { LRUCache } from 'lru-cache';
import type { RedisConnection } from './redis';

export interface RateLimits {
  /** Requests a window of one API key, and of all keys of one organization. */
  perKey: number;
  perOrganization: number;
  windowMs: number;
}

export interface RateLimiterOptions {
  /** Of the role `limiter`. */
  redis: RedisConnection;
  limits?: Partial<RateLimits>;
  /** Silence of Redis after which waiting requests are let through. */
  deadlineMs?: number;
  /** Told of every request that was let through because Redis did not answer. */
  onSkip?: () => void;
}

export interface RateLimiter {
  /** The Unix milliseconds until which a key is known to have no chance, so that asking is of no use; 0 without such. */
  blockedUntil(key: { id: string }): number;
  /** 0 when admitted, else the Unix milliseconds from which the next request is admitted. Never rejects. */
  admit(key: { id: string; organizationId: string }): number | Promise<number>;
  close(): void;
}

/** interface.md, Limits. */
const defaultLimits: RateLimits = { perKey: 60, perOrganization: 200, windowMs: 60_000 };
const blockedSize = 10_000;
const probeEveryMs = 250;
const renewAfterMs = 2_000;
/** The deadline is watched in this many steps. */
const ticks = 2;

/**
 * Both windows in one step, by the clock of Redis. Each key of Redis is the list of the last admitted times, newest
 * first and never longer than its limit: a request fits when the one `limit` places back is older than the window. A
 * refused request leaves no trace. After the clock was set back that one may lie ahead: then it stands in the way a
 * little longer, but when it lies ahead by more than a window it means nothing any more and the list starts anew.
 */
const decide = `
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

type Decide = (keyLog: string, organizationLog: string, ...args: number[]) => Promise<number>;

/**
 * The limits of the Data API: exact in any window, over any number of processes. When Redis is away requests are
 * admitted: at once when the connection is known to be down, else after a short silence, and from then on at once
 * until a probe is answered.
 */
export function createRateLimiter({ redis, limits, deadlineMs = 50, onSkip }: RateLimiterOptions): RateLimiter {
  const { perKey, perOrganization, windowMs } = { ...defaultLimits, ...limits };
  redis.defineCommand('parleyAdmit', { numberOfKeys: 2, lua: decide });
  const ask = (redis as RedisConnection & { parleyAdmit: Decide }).parleyAdmit.bind(redis);

  /** Keys that are refused without asking Redis. Reading the clock at each look-up keeps the end of the wait exact. */
  const blocked = new LRUCache<string, number>({ max: blockedSize, ttlResolution: 0 });
  const waiting = new Set<(retryAtMs: number) => void>();
  let answers = 0;
  let timer: NodeJS.Timeout | undefined;
  let silent = false;
  let closed = false;

  /** Blocked for the wait from the moment of asking, told from the moment of hearing: never blocked past what is told. */
  function block(keyId: string, waitMs: number, askedAtMs: number): number {
    // One more, as both clocks were cut to whole milliseconds.
    const retryAtMs = Date.now() + waitMs + 1;
    blocked.set(keyId, retryAtMs, { ttl: waitMs, start: askedAtMs });
    return retryAtMs;
  }

  /**
   * One timer for all: what counts is how long Redis has said nothing, not how long one request has waited. A tick that
   * comes late says that this process was busy, and nothing of Redis.
   */
  function watch(answersBefore: number, quietTicks: number): void {
    const dueAtMs = performance.now() + deadlineMs / ticks;
    timer = setTimeout(() => {
      // Answers that lie in the socket are read before the next line.
      setImmediate(() => {
        timer = undefined;
        if (waiting.size === 0 || closed) return;
        const onTime = performance.now() - dueAtMs < deadlineMs / ticks;
        const quiet = answers !== answersBefore ? 0 : onTime ? quietTicks + 1 : quietTicks;
        if (quiet < ticks) return watch(answers, quiet);
        silent = true;
        for (const settle of waiting) skip(settle);
        probe();
      });
    }, deadlineMs / ticks);
    timer.unref();
  }

  /** Until an answer comes. A connection that stays silent may be to nobody, so it is made anew. */
  function probe(): void {
    const renewal = setTimeout(() => redis.disconnect(true), renewAfterMs).unref();
    redis.ping().then(
      () => {
        clearTimeout(renewal);
        silent = false;
      },
      () => {
        clearTimeout(renewal);
        if (!closed) setTimeout(probe, probeEveryMs).unref();
      },
    );
  }

  function skip(settle: (retryAtMs: number) => void): void {
    onSkip?.();
    settle(0);
  }

  const blockedUntil = ({ id }: { id: string }): number => blocked.get(id) ?? 0;

  function admit({ id, organizationId }: { id: string; organizationId: string }): number | Promise<number> {
    const blockedUntilMs = blockedUntil({ id });
    if (blockedUntilMs > 0) return blockedUntilMs;
    if (silent || redis.status !== 'ready') {
      onSkip?.();
      return 0;
    }
    return new Promise((resolve) => {
      const settle = (retryAtMs: number) => {
        waiting.delete(settle);
        resolve(retryAtMs);
      };
      if (timer === undefined) watch(answers, 0);
      waiting.add(settle);
      const askedAtMs = performance.now();
      const tenant = `rate:{${organizationId}}`;
      ask(`${tenant}:key:${id}`, tenant, windowMs, perKey, perOrganization).then(
        (waitMs) => {
          answers += 1;
          if (waiting.has(settle)) settle(waitMs === 0 ? 0 : block(id, waitMs, askedAtMs));
        },
        () => {
          if (waiting.has(settle)) skip(settle);
        },
      );
    });
  }

  return {
    blockedUntil,
    admit,
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}
