import { onRefusal } from '@parley/contracts';
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

export interface HttpMetrics {
  observe(request: { method: string; route: string; status: number; durationMs: number }): void;
}

/**
 * The metrics of one process. The values of labels are bounded: routes are patterns, never paths.
 */
export interface Metrics extends HttpMetrics {
  registry: Registry;
  counter<L extends string>(name: string, help: string, labels: L[]): Counter<L>;
  /** `collect` sets the values when the metrics are read. */
  gauge<L extends string>(
    name: string,
    help: string,
    labels: L[],
    collect?: () => void | Promise<void>,
  ): Gauge<L>;
  histogram<L extends string>(
    name: string,
    help: string,
    labels: L[],
    buckets: number[],
  ): Histogram<L>;
}

/**
 * How often the delay of the event loop is sampled, in milliseconds; a sample includes it, which
 * the dashboard subtracts. The default of 10 ms wakes an idle process a hundred times a second,
 * which takes half a percent of a core (docs/adr/0076).
 */
const lagPrecisionMs = 100;

export function createMetrics(service: string): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: lagPrecisionMs });
  const registers = [registry];
  const duration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the start of a request to the end of its answer, in seconds.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers,
  });
  const refusals = new Counter({
    name: 'limit_refusals_total',
    help: 'Work that a limit has refused or postponed, by limit.',
    labelNames: ['limit'],
    registers,
  });
  onRefusal((limit, count) => refusals.inc({ limit }, count));
  return {
    registry,
    observe: ({ method, route, status, durationMs }) =>
      duration.observe({ method, route, status: String(status) }, durationMs / 1000),
    counter: (name, help, labelNames) => new Counter({ name, help, labelNames, registers }),
    gauge: (name, help, labelNames, collect) =>
      new Gauge({ name, help, labelNames, registers, ...(collect && { collect }) }),
    histogram: (name, help, labelNames, buckets) =>
      new Histogram({ name, help, labelNames, buckets, registers }),
  };
}
