import type { RequestListener } from 'node:http';

export type SpanAttributes = Record<string, string | number | boolean | undefined>;

/**
 * An operation that a span describes. Names and attributes never hold what people or
 * models have written.
 */
export interface Operation {
  name: string;
  kind: 'client' | 'internal';
  attributes: SpanAttributes;
}

/** What is known of an operation at its end. */
export interface OperationEnd {
  attributes?: SpanAttributes;
  /** A class of error or a status, never a message: messages may contain personal data. */
  error?: string;
}

/** An attempt of a job. */
export interface TracedJob {
  name: string;
  id: string;
  attempt: number;
  /** The request that caused the job. Its trace has the job. */
  requestId?: string;
}

/** Opens the first span of each request and job of a process. */
export interface Tracer {
  /** Runs `work` in the span of a job. */
  job<T>(job: TracedJob, work: () => T): T;
  /** Opens a span for each request. */
  listen(listener: RequestListener): RequestListener;
  /** Sends the remaining spans, for at most `timeoutMs`. */
  close(timeoutMs: number): Promise<void>;
}

/** The functions for spans inside of those of a tracer. */
export interface OpenSpans {
  within<T>(
    operation: Operation,
    work: () => Promise<T>,
    endOf: (value: T) => OperationEnd,
  ): Promise<T>;
  traceparent(): string | undefined;
  nameRoute(method: string, route: string): void;
}

/** The reason of an expected failure, which is a value: `{ ok: false, reason or errorType }`. */
export function expectedFailure(value: unknown): OperationEnd {
  if (typeof value !== 'object' || value === null) return {};
  if (!('ok' in value) || value.ok !== false) return {};
  const { reason, errorType } = value as { reason?: unknown; errorType?: unknown };
  return { error: String(reason ?? errorType ?? 'failed') };
}
