import { keyPrefix } from './job-catalog';
import { type RedisConnection, openSubscriber } from './connect-redis';

const channel = `${keyPrefix}:relay`;
const wakeEveryMs = 5;
const retryMs = 250;

/**
 * Returns a function that wakes the relays of all workers, at most every 5 ms. A call while Redis
 * is unavailable has no effect; the relays then find the work at their next poll. `redis`: a
 * connection of the role `producer`.
 */
export function createRelayWaker(redis: RedisConnection): () => void {
  let timer: NodeJS.Timeout | undefined;
  let isPending = false;
  return function wakeRelay() {
    isPending = timer !== undefined;
    if (isPending) return;
    redis.publish(channel, '').catch(() => {});
    timer = setTimeout(() => {
      timer = undefined;
      if (isPending) wakeRelay();
    }, wakeEveryMs).unref();
  };
}

/**
 * Calls `work` when the relay is woken, and at the latest after the milliseconds that the previous
 * call returned. Calls do not overlap. `redis`: a connection of the role `worker`.
 */
export function createRelay(
  redis: RedisConnection,
  work: () => Promise<number>,
  onError: (error: unknown) => void,
) {
  let isClosed = false;
  let wake = () => {};
  async function run(): Promise<void> {
    while (!isClosed) {
      const { promise: woken, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      const restMs = await work().catch((error: unknown) => {
        onError(error);
        return retryMs;
      });
      const timer = setTimeout(resolve, restMs);
      await woken;
      clearTimeout(timer);
    }
  }
  const subscriber = openSubscriber(redis, () => wake());
  subscriber.subscribe(channel);
  const running = run();
  return {
    async close(): Promise<void> {
      isClosed = true;
      subscriber.close();
      wake();
      await running;
    },
  };
}
