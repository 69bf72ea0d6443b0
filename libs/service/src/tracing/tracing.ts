import type { Logger } from '../process/logger';
import {
  type OpenSpans,
  type Operation,
  type OperationEnd,
  type Tracer,
  expectedFailure,
} from './operation';

export interface TracingConfig {
  OTEL_EXPORTER_OTLP_ENDPOINT?: string;
  OTEL_EXPORTER_OTLP_HEADERS?: string;
  OTEL_TRACES_SAMPLER_ARG: number;
}

/** Set when the process has a tracer. OpenTelemetry's packages are loaded only then. */
let open: OpenSpans | undefined;

/** Creates the tracer of a process; undefined when the configuration names no collector. */
export async function openTracer(config: TracingConfig, log: Logger): Promise<Tracer | undefined> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = config;
  if (endpoint === undefined) return undefined;
  const { createTracer, openSpans } = await import('./otel-tracer');
  const { service = 'parley' } = log.bindings() as { service?: string };
  open = openSpans;
  return createTracer({
    service,
    endpoint,
    headers: config.OTEL_EXPORTER_OTLP_HEADERS,
    ratio: config.OTEL_TRACES_SAMPLER_ARG,
    log,
  });
}

/**
 * The `traceparent` header for an outgoing request (W3C Trace Context); undefined
 * outside of a span.
 */
export const traceparent = (): string | undefined => open?.traceparent();

/** Names the span of a request after its route. */
export function nameRoute({ method = '' }: { method?: string }, route: string): void {
  open?.nameRoute(method, route);
}

/**
 * Runs `work` in a child of the current span. Only runs `work` when there is none, such as when
 * tracing is disabled.
 */
export function traced<T>(
  operation: Operation,
  work: () => Promise<T>,
  endOf: (value: T) => OperationEnd = expectedFailure,
): Promise<T> {
  return open === undefined ? work() : open.within(operation, work, endOf);
}

/** Runs a declared statement of the database in a span. Its values are not part of it. */
export function tracedStatement<T>(name: string, work: () => Promise<T>): Promise<T> {
  if (open === undefined) return work();
  const attributes = { 'db.system.name': 'postgresql', 'db.query.summary': name };
  return open.within({ name, kind: 'client', attributes }, work, () => ({}));
}
