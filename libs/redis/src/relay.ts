import { queuePrefix } from './catalog';
import type { RedisConnection } from './redis';

const channel = `${queuePrefix}:relay`;
const ringEveryMs = 5;
const retryMs = 250;

/**
 * Wakes the relays of all workers: at once, and at most every 5 ms. While Redis is away a ring is lost without a word, and
 * relays find the work when they look by themselves. `redis` is of the role `producer`.
 */
export function createRing(redis: RedisConnection): () => void {
  let timer: NodeJS.Timeout | undefined;
  let isRung = false;
  return function ring() {
    isRung = timer !== undefined;
    if (isRung) return;
    redis.publish(channel, '').catch(() => {});
    timer = setTimeout(() => {
      timer = undefined;
      if (isRung) ring();
    }, ringEveryMs).unref();
  };
}

/**
 * Calls `work` at each ring, and if nobody rings after the milliseconds that it returned; never twice at a time. `redis` is
 * of the role `worker`.
 */
export function createRelay(redis: RedisConnection, work: () => Promise<number>, onError: (error: unknown) => void) {
  let isClosed = false;
  let ring = () => {};
  async function run(): Promise<void> {
    while (!isClosed) {
      const { promise: rung, resolve } = Promise.withResolvers<void>();
      ring = resolve;
      const restMs = await work().catch((error: unknown) => {
        onError(error);
        return retryMs;
      });
      const timer = setTimeout(resolve, restMs);
      await rung;
      clearTimeout(timer);
    }
  }
  // It subscribes again by itself after an outage, of which `redis` tells as well.
  const subscriber = redis.duplicate();
  subscriber.on('error', () => {}).on('message', () => ring());
  subscriber.subscribe(channel).catch(() => {});
  const running = run();
  return {
    async close(): Promise<void> {
      isClosed = true;
      subscriber.disconnect();
      ring();
      await running;
    },
  };
}
