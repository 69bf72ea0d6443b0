import { type IdGenerator, RandomIdGenerator } from '@opentelemetry/sdk-trace';
import type { SpanIds } from './ids-of-request';

/** Generates random ids, except for a span that is started by `withIds`. */
export function createIdGenerator(): IdGenerator & {
  withIds<T>(ids: SpanIds, start: () => T): T;
} {
  const random = new RandomIdGenerator();
  let next: SpanIds | undefined;
  return {
    generateTraceId: () => next?.traceId ?? random.generateTraceId(),
    generateSpanId: () => next?.spanId ?? random.generateSpanId(),
    withIds(ids, start) {
      next = ids;
      try {
        return start();
      } finally {
        next = undefined;
      }
    },
  };
}
