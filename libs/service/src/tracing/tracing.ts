import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash, randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { requestIdOf } from '../http/request-id';
import type { Logger } from './logger';
import { type ExporterOptions, type FinishedSpan, createSpanExporter } from './span-exporter';

export interface Tracer {
  /** Runs `work` in a new span, which is the current one for `traced` and `traceparent` inside. */
  span<T>(start: SpanStart, work: () => T): T;
  /** Opens a span for each request, as a child of the caller's span when the caller sent its `traceparent`. */
  listen(listener: RequestListener): RequestListener;
  /** Sends the remaining spans. */
  close(): Promise<void>;
}

type Attributes = Record<string, string | number | boolean | undefined>;

interface SpanStart {
  name: string;
  kind: 'server' | 'client' | 'consumer' | 'internal';
  /** The id of the trace is derived from it, so that all services and jobs of a request share one trace. */
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

/** The `traceparent` header for an outgoing request (W3C Trace Context); undefined when tracing is disabled. */
export function traceparent(): string | undefined {
  const span = current.getStore();
  return span && `00-${span.traceId}-${span.spanId}-01`;
}

/** Runs `work` in a child of the current span. Without a current span, such as when tracing is disabled, only runs `work`. */
export async function traced<T>(
  name: string,
  attributes: Attributes,
  work: () => Promise<T>,
): Promise<T> {
  const parent = current.getStore();
  if (parent === undefined) return work();
  return inside(parent.open({ name, kind: 'client', attributes }), work);
}

/** Creates the tracer of a process; undefined when the configuration names no collector. */
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
    // A job is a child of the request that caused it. The request's span id is derived from its id, so jobs do not carry it.
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
          error:
            error === undefined ? undefined : error instanceof Error ? error.name : String(error),
        };
        exporter.add(finished);
      },
    };
  }

  return {
    span: (start, work) => inside(open(start), work),
    listen: (listener) => (request, response) => {
      // Stored, so that the listener uses the same request id as the trace.
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

/** Sets the route in the span of a request. */
export function nameRoute(request: object, route: string): void {
  if (current.getStore() !== undefined) routes.set(request, route);
}

function inside<T>(span: OpenSpan, work: () => T): T {
  return current.run(span, () => {
    try {
      const result = work();
      if (result instanceof Promise) {
        return result.then(
          (value) => {
            span.end(failureIn(value));
            return value;
          },
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

/** The reason of an expected failure, which is a value: `{ ok: false, reason or errorType }`. */
function failureIn(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('ok' in value) || value.ok !== false)
    return undefined;
  const { reason, errorType } = value as { reason?: unknown; errorType?: unknown };
  return String(reason ?? errorType ?? 'failed');
}

const hex = (bytes: number) => randomBytes(bytes).toString('hex');

/** The trace of a request and the id of its first span, both derived from the request id. */
function rootOf(requestId: string): { traceId: string; spanId: string } {
  const digest = createHash('sha256').update(requestId).digest('hex');
  return { traceId: digest.slice(0, 32), spanId: digest.slice(32, 48) };
}

/** The parent in a `traceparent` header. A trace that is not derived from the request id is a client's, and is not continued. */
function parentOf(header: string | string[] | undefined, requestId: string): SpanStart['parent'] {
  const found = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/.exec(String(header ?? ''));
  return found?.[1] === rootOf(requestId).traceId
    ? { traceId: found[1], spanId: found[2]! }
    : undefined;
}
