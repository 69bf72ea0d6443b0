import { ROOT_CONTEXT, SpanStatusCode } from '@opentelemetry/api';
import {
  type ReadableSpan,
  SamplingDecision,
  type Span,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';

/** Spans of one trace that wait for an error. Of more, the latest are kept. */
const maxSpansOfTrace = 256;
/** Spans of all traces that wait. Of more, the trace that began first loses its own. */
const maxSpans = 4_096;

/** The spans of one trace in this process while one of them is open. */
interface OpenTrace {
  openSpans: number;
  isKept: boolean;
  waiting: ReadableSpan[];
}

/**
 * Passes on the spans of a part of the traces, which their ids select, so that all processes select
 * the same. Of the others, a process passes on its own spans if one of them has failed: they wait
 * until no span of the trace is open in this process.
 */
export class TailSampling implements SpanProcessor {
  readonly #next: SpanProcessor;
  readonly #sampler: TraceIdRatioBasedSampler;
  readonly #open = new Map<string, OpenTrace>();
  #waiting = 0;

  constructor(next: SpanProcessor, ratio: number) {
    this.#next = next;
    this.#sampler = new TraceIdRatioBasedSampler(ratio);
  }

  onStart(span: Span): void {
    const { traceId } = span.spanContext();
    const { decision } = this.#sampler.shouldSample(ROOT_CONTEXT, traceId);
    if (decision === SamplingDecision.RECORD_AND_SAMPLED) return;
    const trace = this.#open.get(traceId);
    if (trace === undefined) {
      this.#open.set(traceId, { openSpans: 1, isKept: false, waiting: [] });
    } else {
      trace.openSpans += 1;
    }
  }

  onEnd(span: ReadableSpan): void {
    const { traceId } = span.spanContext();
    const trace = this.#open.get(traceId);
    if (trace === undefined) return this.#next.onEnd(span);
    trace.openSpans -= 1;
    trace.waiting.push(span);
    this.#waiting += 1;
    if (span.status.code === SpanStatusCode.ERROR) trace.isKept = true;
    if (trace.isKept) {
      for (const waiting of this.#take(trace)) this.#next.onEnd(waiting);
    }
    if (trace.openSpans === 0) {
      this.#take(trace);
      this.#open.delete(traceId);
    }
    this.#limit(trace);
  }

  forceFlush(): Promise<void> {
    return this.#next.forceFlush();
  }

  shutdown(): Promise<void> {
    return this.#next.shutdown();
  }

  #take(trace: OpenTrace): ReadableSpan[] {
    const taken = trace.waiting;
    trace.waiting = [];
    this.#waiting -= taken.length;
    return taken;
  }

  #limit(trace: OpenTrace): void {
    if (trace.waiting.length > maxSpansOfTrace) {
      trace.waiting.shift();
      this.#waiting -= 1;
    }
    if (this.#waiting <= maxSpans) return;
    for (const oldest of this.#open.values()) {
      if (oldest.waiting.length > 0) {
        this.#take(oldest);
        return;
      }
    }
  }
}
