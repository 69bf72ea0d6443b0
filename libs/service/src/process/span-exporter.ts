import type { Logger } from './logger';

export interface ExporterOptions {
  service: string;
  /** Base address of an OTLP/HTTP collector. */
  endpoint: string;
  /** `name=value`, separated by commas. */
  headers?: string;
  log: Pick<Logger, 'warn'>;
}

export interface FinishedSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  name: string;
  kind: 'server' | 'client' | 'consumer' | 'internal';
  startedAtMs: number;
  endedAtMs: number;
  attributes: Record<string, string | number | boolean | undefined>;
  /** A class of error or a status, never a message: messages may contain personal data. */
  error: string | undefined;
}

const kinds = { internal: 1, server: 2, client: 3, consumer: 5 };
const sendEveryMs = 2_000;
const batchSize = 512;
/** Maximum number of spans that wait for the collector. Further spans are dropped. */
const maxWaitingSpans = 4_096;
const sendTimeoutMs = 5_000;

/** Sends spans in batches with OTLP over HTTP, as JSON. A batch that cannot be sent is dropped. */
export function createSpanExporter({ service, endpoint, headers = '', log }: ExporterOptions) {
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
  const waiting: FinishedSpan[] = [];
  let sending: Promise<void> | undefined;
  let isFailing = false;
  const timer = setInterval(() => void flush(), sendEveryMs);
  timer.unref();

  const requestHeaders = {
    'Content-Type': 'application/json',
    ...Object.fromEntries(
      headers
        .split(',')
        .filter((pair) => pair.includes('='))
        .map((pair) => [
          pair.slice(0, pair.indexOf('=')).trim(),
          decodeURIComponent(pair.slice(pair.indexOf('=') + 1)),
        ]),
    ),
  };

  async function send(spans: FinishedSpan[]): Promise<void> {
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: requestHeaders,
        body: JSON.stringify(payloadOf(service, spans)),
        signal: AbortSignal.timeout(sendTimeoutMs),
      });
      await response.body?.cancel();
      if (!response.ok) throw new Error(`the collector answered with ${response.status}`);
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.warn({ err: error, spans: spans.length }, 'cannot send traces');
      isFailing = true;
    }
  }

  function flush(): Promise<void> {
    if (waiting.length > 0)
      sending ??= send(waiting.splice(0, batchSize)).finally(() => (sending = undefined));
    return sending ?? Promise.resolve();
  }

  return {
    add(span: FinishedSpan): void {
      if (waiting.length < maxWaitingSpans) waiting.push(span);
      if (waiting.length >= batchSize) void flush();
    },
    async close(): Promise<void> {
      clearInterval(timer);
      await sending;
      while (waiting.length > 0 && !isFailing) await flush();
    },
  };
}

const payloadOf = (service: string, spans: FinishedSpan[]) => ({
  resourceSpans: [
    {
      resource: {
        attributes: attributesOf({ 'service.name': service, 'service.namespace': 'parley' }),
      },
      scopeSpans: [{ scope: { name: 'parley' }, spans: spans.map(wireSpan) }],
    },
  ],
});

const wireSpan = ({
  traceId,
  spanId,
  parentSpanId,
  name,
  kind,
  startedAtMs,
  endedAtMs,
  ...span
}: FinishedSpan) => ({
  traceId,
  spanId,
  parentSpanId,
  name,
  kind: kinds[kind],
  startTimeUnixNano: nanoseconds(startedAtMs),
  endTimeUnixNano: nanoseconds(endedAtMs),
  attributes: attributesOf({ ...span.attributes, ...(span.error && { 'error.type': span.error }) }),
  status: span.error === undefined ? {} : { code: 2 },
});

const nanoseconds = (ms: number) => `${BigInt(Math.round(ms * 1_000)) * 1_000n}`;

const attributesOf = (attributes: FinishedSpan['attributes']) =>
  Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ({ key, value: wireValue(value!) }));

function wireValue(value: string | number | boolean): object {
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'string') return { stringValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
