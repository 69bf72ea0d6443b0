import { DiagLogLevel, diag } from '@opentelemetry/api';
import { setGlobalErrorHandler } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { BatchSpanProcessor, type SpanProcessor } from '@opentelemetry/sdk-trace';
import type { Logger } from '../process/logger';
import { createProblemLog } from './export-problems';
import { parseOtlpHeaders } from './otlp-headers';

export interface CollectorOptions {
  /** Base address of an OTLP/HTTP collector. */
  endpoint: string;
  /** `name=value`, separated by commas. */
  headers?: string;
  log: Pick<Logger, 'warn'>;
}

const batchSize = 512;
/** Spans that wait for the collector. Further ones are dropped. */
const maxWaitingSpans = 2_048;
/**
 * All waiting batches and one more, so that a shutdown sends all. A collector that never
 * answers holds no more.
 */
const maxRequests = 5;
/** Time limit of a batch with its retries. */
const sendTimeoutMs = 5_000;

/** Sends spans in batches, with OTLP over HTTP as JSON. A batch that cannot be sent is dropped. */
export function createSpanSender({ endpoint, headers = '', log }: CollectorOptions): {
  processor: SpanProcessor;
  /** Logs that spans are lost. */
  onError: (error: unknown) => void;
  /** Waits for the requests under way. */
  settled: () => Promise<void>;
} {
  const report = createProblemLog(log);
  const onError = (error: unknown) =>
    report(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
  setGlobalErrorHandler(onError);
  // Errors reach the handler above. Warnings are about dropped spans and about answers
  // of the collector.
  const ignore = () => {};
  diag.setLogger(
    {
      error: ignore,
      warn: (...texts: unknown[]) => report(texts.filter(isText).join(' ')),
      info: ignore,
      debug: ignore,
      verbose: ignore,
    },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const exporter = new OTLPTraceExporter({
    url: `${endpoint}/v1/traces`,
    headers: parseOtlpHeaders(headers),
    timeoutMillis: sendTimeoutMs,
    concurrencyLimit: maxRequests,
  });
  const processor = new BatchSpanProcessor({
    exporter,
    maxQueueSize: maxWaitingSpans,
    maxExportBatchSize: batchSize,
    scheduledDelayMillis: 2_000,
    exportTimeoutMillis: 2 * sendTimeoutMs,
  });
  return { processor, onError, settled: () => exporter.forceFlush() };
}

const isText = (value: unknown): value is string => typeof value === 'string';
