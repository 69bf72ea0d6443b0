import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash, randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { requestIdOf } from '../http/request-id';
import type { Logger } from './logger';
import { type ExporterOptions, type FinishedSpan, createSpanExporter } from './span-exporter';

export interface Tracer {
  /** Runs `work` in a span of its own; inside, `traced` and `traceparent` know it. */
  span<T>(start: SpanStart, work: () => T): T;
  /** A span for each request, below the caller's when that sent its `traceparent`. */
  listen(listener: RequestListener): RequestListener;
  /** Sends what is left. */
  close(): Promise<void>;
}

type Attributes = Record<string, string | number | boolean | undefined>;

interface SpanStart {
  name: string;
  kind: 'server' | 'client' | 'consumer' | 'internal';
  /** The trace of everything that this request leads to, jobs included, is made from its id. */
  requestId?: string;
  parent?: { traceId: string; spanId: string };
  attributes?: Attributes;
}

interface OpenSpan {
  traceId: string;
  spanId: string;
  open(start: SpanStart): OpenSpan;
  end(error?: unknown, attributes?: Attributes): void;
}

const current = new AsyncLocalStorage<OpenSpan>();

/** What an outgoing request says of where it comes from (W3C Trace Context); undefined when traces are off. */
export function traceparent(): string | undefined {
  const span = current.getStore();
  return span && `00-${span.traceId}-${span.spanId}-01`;
}

/** Runs `work` in a span below the current one. Without one, which is so when traces are off, it only runs it. */
export async function traced<T>(name: string, attributes: Attributes, work: () => Promise<T>): Promise<T> {
  const parent = current.getStore();
  if (parent === undefined) return work();
  return inside(parent.open({ name, kind: 'client', attributes }), work);
}

/** The tracer that a configuration asks for: none unless it names a collector, and then nothing of this file runs. */
export function tracerOf(
  config: { OTEL_EXPORTER_OTLP_ENDPOINT?: string; OTEL_EXPORTER_OTLP_HEADERS?: string },
  log: Logger,
): Tracer | undefined {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: headers } = config;
  const { service = 'parley' } = log.bindings() as { service?: string };
  return endpoint === undefined ? undefined : createTracer({ service, endpoint, headers, log });
}

function createTracer({ service, endpoint, headers, log }: ExporterOptions): Tracer {
  const exporter = createSpanExporter({ service, endpoint, headers, log });

  function open({ name, kind, requestId, parent: given, attributes }: SpanStart): OpenSpan {
    const root = requestId === undefined ? undefined : rootOf(requestId);
    // A job hangs below the request that it comes from: its sender need not tell it how that one's span is called.
    const parent = given ?? (kind === 'consumer' ? root : undefined);
    const traceId = parent?.traceId ?? root?.traceId ?? hex(16);
    const spanId = parent === undefined && root !== undefined ? root.spanId : hex(8);
    const startedAtMs = Date.now();
    const startedAt = performance.now();
    let isOver = false;
    return {
      traceId,
      spanId,
      open: (start) => open({ ...start, parent: { traceId, spanId } }),
      end(error, more) {
        if (isOver) return;
        isOver = true;
        const finished: FinishedSpan = {
          traceId,
          spanId,
          parentSpanId: parent?.spanId,
          name: more?.['http.route'] ? `${name} ${more['http.route']}` : name,
          kind,
          startedAtMs,
          endedAtMs: startedAtMs + (performance.now() - startedAt),
          attributes: { ...attributes, ...(requestId && { 'request.id': requestId }), ...more },
          error: error === undefined ? undefined : error instanceof Error ? error.name : String(error),
        };
        exporter.add(finished);
      },
    };
  }

  return {
    span: (start, work) => inside(open(start), work),
    listen: (listener) => (request, response) => {
      // Whoever handles the request finds the id that the trace is made from.
      const requestId = requestIdOf(request);
      request.headers['x-request-id'] = requestId;
      const span = open({
        name: request.method!,
        kind: 'server',
        requestId,
        parent: parentOf(request.headers.traceparent, requestId),
        attributes: { 'http.request.method': request.method },
      });
      response.once('close', () => {
        const status = response.statusCode;
        span.end(status >= 500 ? String(status) : undefined, {
          'http.response.status_code': status,
          'http.route': routes.get(request),
        });
      });
      current.run(span, () => listener(request, response));
    },
    close: () => exporter.close(),
  };
}

const routes = new WeakMap<object, string>();

/** Tells the span of a request which route took it. */
export function nameRoute(request: object, route: string): void {
  if (current.getStore() !== undefined) routes.set(request, route);
}

function inside<T>(span: OpenSpan, work: () => T): T {
  return current.run(span, () => {
    try {
      const result = work();
      if (result instanceof Promise) {
        return result.then(
          (value) => (span.end(failureIn(value)), value),
          (error: unknown) => {
            span.end(error);
            throw error;
          },
        ) as T;
      }
      span.end();
      return result;
    } catch (error) {
      span.end(error);
      throw error;
    }
  });
}

/** Expected failures are values here: `{ ok: false, reason or errorType }`. */
function failureIn(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('ok' in value) || value.ok !== false) return undefined;
  const { reason, errorType } = value as { reason?: unknown; errorType?: unknown };
  return String(reason ?? errorType ?? 'failed');
}

const hex = (bytes: number) => randomBytes(bytes).toString('hex');

/** The trace of a request, and the span of whoever heard of it first. */
function rootOf(requestId: string): { traceId: string; spanId: string } {
  const digest = createHash('sha256').update(requestId).digest('hex');
  return { traceId: digest.slice(0, 32), spanId: digest.slice(32, 48) };
}

/** Only a trace of ours is continued: a client's own is not made from the request's id. */
function parentOf(header: string | string[] | undefined, requestId: string): SpanStart['parent'] {
  const found = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/.exec(String(header ?? ''));
  return found?.[1] === rootOf(requestId).traceId ? { traceId: found[1], spanId: found[2]! } : undefined;
}
