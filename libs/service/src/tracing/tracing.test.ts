import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { silentLogger } from './logger';
import { nameRoute, traced, traceparent, tracerOf } from './tracing';

interface WireSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  status: { code?: number };
  attributes: { key: string; value: Record<string, unknown> }[];
}

/** Spans that a stand-in for a collector has received (OTLP over HTTP, as JSON). */
const received: WireSpan[] = [];
let authorization: string | undefined;
let collector: Server;
beforeAll(async () => {
  collector = createServer(async (request, response) => {
    authorization = request.headers.authorization;
    const body = JSON.parse((await request.toArray()).join('')) as {
      resourceSpans: { scopeSpans: { spans: WireSpan[] }[] }[];
    };
    if (request.url === '/v1/traces') received.push(...body.resourceSpans[0]!.scopeSpans[0]!.spans);
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await once(collector, 'listening');
});
afterAll(() => collector.close());
beforeEach(() => received.splice(0));

const addressOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const open = () =>
  tracerOf(
    {
      OTEL_EXPORTER_OTLP_ENDPOINT: addressOf(collector),
      OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Basic%20x',
    },
    silentLogger(),
  )!;
const spanOf = (name: string) => received.find((span) => span.name === name)!;

it('without a collector there is no tracer, and work runs without a span', async () => {
  expect(tracerOf({}, silentLogger())).toBeUndefined();
  expect(await traced('work', {}, async () => traceparent() ?? 'none')).toBe('none');
});

it('a request, its calls to other services and its jobs share one trace', async () => {
  const tracer = open();
  const next = createServer(
    tracer.listen((request, response) => {
      nameRoute(request, '/v1/:thing');
      void traced('tool call', { 'tool.name': 'a.b' }, async () => ({
        ok: false,
        errorType: 'timeout',
      })).then(() => response.end());
    }),
  ).listen(0, '127.0.0.1');
  const first = createServer(
    tracer.listen((request, response) => {
      const headers = {
        traceparent: traceparent()!,
        'X-Request-Id': request.headers['x-request-id'] as string,
      };
      void fetch(`${addressOf(next)}/v1/secret-name`, { headers }).then(() => response.end());
    }),
  ).listen(0, '127.0.0.1');
  try {
    await Promise.all([next, first].map((server) => server.listening || once(server, 'listening')));
    // A client's own trace is not continued.
    const clientTrace = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    await fetch(addressOf(first), { headers: { 'X-Request-Id': 'r-1', traceparent: clientTrace } });
    await tracer.span({ name: 'job send', kind: 'consumer', requestId: 'r-1' }, async () => {});
  } finally {
    for (const server of [next, first]) {
      server.closeAllConnections();
      server.close();
    }
  }
  await tracer.close();

  expect(received.map(({ name }) => name).sort()).toEqual([
    'GET',
    'GET /v1/:thing',
    'job send',
    'tool call',
  ]);
  expect(new Set(received.map(({ traceId }) => traceId)).size).toBe(1);
  expect(spanOf('GET').parentSpanId).toBeUndefined();
  expect(spanOf('job send')).toMatchObject({ parentSpanId: spanOf('GET').spanId, kind: 5 });
  expect(spanOf('GET /v1/:thing')).toMatchObject({ parentSpanId: spanOf('GET').spanId, kind: 2 });
  expect(spanOf('tool call')).toMatchObject({
    parentSpanId: spanOf('GET /v1/:thing').spanId,
    status: { code: 2 },
  });
  expect(spanOf('tool call').attributes).toContainEqual({
    key: 'error.type',
    value: { stringValue: 'timeout' },
  });
  expect(JSON.stringify(received)).not.toContain('secret-name');
  expect(authorization).toBe('Basic x');
});

it('work continues when the collector is unavailable', async () => {
  const tracer = tracerOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' }, silentLogger())!;
  expect(await tracer.span({ name: 'work', kind: 'internal' }, async () => 1)).toBe(1);
  await expect(
    tracer.span({ name: 'work', kind: 'internal' }, () => Promise.reject(new Error('no'))),
  ).rejects.toThrow('no');
  await tracer.close();
});
