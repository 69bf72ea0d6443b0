import { once } from 'node:events';
import { type RequestListener, type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CollectorServer, startCollectorServer } from '@parley/testing';
import { silentLogger } from '../process/logger';
import { idsOfRequest } from './ids-of-request';
import type { Tracer } from './operation';
import { tracedModelCall, tracedToolCall } from './traced-calls';
import { nameRoute, openTracer, traced, tracedStatement, traceparent } from './tracing';

let collector: CollectorServer;
beforeEach(async () => {
  collector = await startCollectorServer();
});
afterEach(async () => {
  await collector.stop();
  expect(collector.problems).toEqual([]);
});

const flushMs = 30_000;
const open = async (config: object = {}): Promise<Tracer> =>
  (await openTracer(
    { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER_ARG: 1, ...config },
    silentLogger(),
  ))!;

const job = (name: string, requestId?: string) => ({ name, id: '1', attempt: 1, requestId });
const spanOf = (name: string) => {
  const found = collector.spans.filter((span) => span.name === name);
  expect(found).toHaveLength(1);
  return found[0]!;
};
const names = () => collector.spans.map(({ name }) => name).sort();

/** Runs `work` with the addresses of servers for these listeners. */
async function withServers(
  listeners: RequestListener[],
  work: (...urls: string[]) => Promise<unknown>,
): Promise<void> {
  const servers = listeners.map((listener) => createServer(listener).listen(0, '127.0.0.1'));
  try {
    await Promise.all(servers.map((server) => server.listening || once(server, 'listening')));
    await work(...servers.map(urlOf));
  } finally {
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
  }
}
const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

// The first test, because the others open a tracer.
it('without a collector there is no tracer, no package of OpenTelemetry is loaded, and work runs without a span', async () => {
  expect(await openTracer({ OTEL_TRACES_SAMPLER_ARG: 1 }, silentLogger())).toBeUndefined();
  const operation = { name: 'work', kind: 'internal', attributes: {} } as const;
  expect(await traced(operation, async () => traceparent() ?? 'none')).toBe('none');
  const loaded = Object.keys(require.cache).filter((path) => path.includes('@opentelemetry'));
  expect(loaded).toEqual([]);
});

it('a request, its calls to other services and its jobs share one trace, whose ids follow from the request id', async () => {
  const tracer = await open({ OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Basic%20x, X-Team=a' });
  const next = tracer.listen((request, response) => {
    nameRoute(request, '/v1/:thing');
    void tracedToolCall('a.b', async () => ({ ok: false as const, errorType: 'timeout' })).then(
      () => response.end(),
    );
  });
  const firstOf = (nextUrl: () => string) =>
    tracer.listen((request, response) => {
      const headers = {
        traceparent: traceparent()!,
        'X-Request-Id': request.headers['x-request-id'] as string,
      };
      void fetch(`${nextUrl()}/v1/secret-name`, { headers }).then(() => response.end());
    });
  let nextUrl = '';
  await withServers([next, firstOf(() => nextUrl)], async (url, firstUrl) => {
    nextUrl = url!;
    await fetch(firstUrl!, { headers: { 'X-Request-Id': 'r-1' } });
    await tracer.job(job('send', 'r-1'), async () => {});
  });
  await tracer.close(flushMs);

  expect(names()).toEqual(['GET', 'GET /v1/:thing', 'execute_tool a.b', 'process send']);
  const { traceId, spanId } = idsOfRequest('r-1');
  expect(new Set(collector.spans.map((span) => span.traceId))).toEqual(new Set([traceId]));
  expect(spanOf('GET')).toMatchObject({ spanId, parentSpanId: undefined, kind: 'server' });
  expect(spanOf('process send')).toMatchObject({ parentSpanId: spanId, kind: 'consumer' });
  expect(spanOf('GET /v1/:thing')).toMatchObject({
    parentSpanId: spanId,
    kind: 'server',
    isError: false,
    attributes: {
      'http.request.method': 'GET',
      'http.route': '/v1/:thing',
      'http.response.status_code': 200,
      'request.id': 'r-1',
    },
  });
  expect(spanOf('execute_tool a.b')).toMatchObject({
    parentSpanId: spanOf('GET /v1/:thing').spanId,
    isError: true,
    attributes: { 'gen_ai.tool.name': 'a.b', 'error.type': 'timeout' },
  });
  const [request] = collector.requests;
  expect(request!.bytes.toString()).not.toContain('secret-name');
  expect(request!.headers).toMatchObject({ authorization: 'Basic x', 'x-team': 'a' });
});

describe('the traceparent of a caller', () => {
  const traceId = 'a'.repeat(32);
  const spanId = 'b'.repeat(16);
  it.each([
    ['a trace of its own', `00-${traceId}-${spanId}-00`, [{ traceId, spanId }]],
    ['a later version', `01-${traceId}-${spanId}-01-more`, [{ traceId, spanId }]],
    ['no trace', undefined, []],
    ['zeros', `00-${'0'.repeat(32)}-${spanId}-01`, []],
    ['capital letters', `00-${'A'.repeat(32)}-${spanId}-01`, []],
    ['an unknown version', `ff-${traceId}-${spanId}-01`, []],
    ['more than its version has', `00-${traceId}-${spanId}-01-more`, []],
    ['a long text', 'x'.repeat(4_000), []],
    ['two', `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`, []],
  ])('%s: linked if it can be read, never continued', async (_what, header, links) => {
    const tracer = await open();
    const listener = tracer.listen((_request, response) => response.end());
    await withServers([listener], async (url) => {
      const headers = { 'X-Request-Id': 'r-2', ...(header && { traceparent: header }) };
      const response = await fetch(url!, { headers });
      expect(response.status).toBe(200);
    });
    await tracer.close(flushMs);
    expect(spanOf('GET')).toMatchObject({ ...idsOfRequest('r-2'), parentSpanId: undefined, links });
  });
});

it('spans of statements and model calls have the conventional names, and no values', async () => {
  const tracer = await open();
  const usage = { inputTokens: 12, outputTokens: 7 };
  await tracer.job(job('run'), async () => {
    await tracedStatement('find a person', async () => ({ rows: ['person@example.com'] }));
    await tracedModelCall('openai/gpt-5-mini', async () => ({
      ok: true as const,
      model: 'google/gemini-2.5-flash',
      durationMs: 1,
      reply: { usage, text: 'person@example.com' },
    }));
    await tracedModelCall('anthropic/claude', async () => ({
      ok: false as const,
      model: 'anthropic/claude',
      reason: 'rate_limited',
      durationMs: 1,
    }));
    await tracedToolCall('call +1 415 555 0123', async () => ({ ok: true as const }));
  });
  await tracer.close(flushMs);

  const parentSpanId = spanOf('process run').spanId;
  expect(spanOf('find a person')).toMatchObject({
    parentSpanId,
    kind: 'client',
    attributes: { 'db.system.name': 'postgresql', 'db.query.summary': 'find a person' },
  });
  expect(spanOf('chat gpt-5-mini')).toMatchObject({
    parentSpanId,
    kind: 'client',
    isError: false,
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'gcp.gemini',
      'gen_ai.request.model': 'gpt-5-mini',
      'gen_ai.response.model': 'gemini-2.5-flash',
      'gen_ai.usage.input_tokens': 12,
      'gen_ai.usage.output_tokens': 7,
    },
  });
  expect(spanOf('chat claude')).toMatchObject({
    isError: true,
    attributes: { 'gen_ai.provider.name': 'anthropic', 'error.type': 'rate_limited' },
  });
  expect(spanOf('execute_tool unknown').attributes['gen_ai.tool.name']).toBe('unknown');
  expect(JSON.stringify(collector.spans)).not.toMatch(/person@example|555/);
});

it('an error is a class of error, without its message', async () => {
  const tracer = await open();
  const failing = (name: string, error: unknown) =>
    expect(tracer.job(job(name), () => Promise.reject(error))).rejects.toBe(error);
  await failing('typed', new TypeError('secret-text'));
  await failing('coded', Object.assign(new Error('secret-text'), { code: '23505' }));
  await failing('wordy', Object.assign(new Error('secret-text'), { code: 'secret-text: no' }));
  await failing('thrown', 'secret-text');
  expect(() =>
    tracer.job(job('sync'), () => {
      throw new RangeError('secret-text');
    }),
  ).toThrow(RangeError);
  await tracer.close(flushMs);
  const types = Object.fromEntries(
    collector.spans.map(({ name, attributes }) => [name, attributes['error.type']]),
  );
  expect(types).toEqual({
    'process typed': 'TypeError',
    'process coded': '23505',
    'process wordy': 'Error',
    'process thrown': 'string',
    'process sync': 'RangeError',
  });
  expect(JSON.stringify(collector.spans)).not.toContain('secret-text');
});

it('the size of a span is bounded', async () => {
  const tracer = await open();
  const many = Array.from({ length: 100 }, (_, at) => [`attribute.${at}`, 'x'.repeat(10_000)]);
  const attributes = Object.fromEntries(many) as Record<string, string>;
  await tracer.job(job('run'), () =>
    traced({ name: 'n'.repeat(10_000), kind: 'internal', attributes }, async () => {}),
  );
  await tracer.close(flushMs);
  const [span] = collector.spans.filter(({ name }) => name.startsWith('nnn'));
  expect(span!.name).toHaveLength(128);
  expect(Object.keys(span!.attributes)).toHaveLength(32);
  expect(JSON.stringify(span).length).toBeLessThan(12_000);
});

it('of traces that the ratio leaves out, those with an error are sent, with what preceded it', async () => {
  const tracer = await open({ OTEL_TRACES_SAMPLER_ARG: 0 });
  const step = (name: string, work: () => Promise<unknown>) => () =>
    traced({ name, kind: 'internal', attributes: {} }, work);
  await tracer.job(
    job('good'),
    step('well', async () => ({ ok: true })),
  );
  await tracer.job(job('bad', 'r-3'), async () => {
    await step('before', async () => {})();
    await step('cause', async () => ({ ok: false, reason: 'failed' }))();
    await step('after', async () => {})();
  });
  await withServers(
    [tracer.listen((request, response) => response.writeHead(Number(request.url!.slice(1))).end())],
    async (url) => {
      for (const status of [200, 404, 503]) await fetch(`${url}/${status}`);
    },
  );
  await tracer.close(flushMs);
  expect(names()).toEqual(['GET', 'after', 'before', 'cause', 'process bad']);
  expect(spanOf('GET').attributes['http.response.status_code']).toBe(503);
});

it('a ratio selects traces by their id, so that all services select the same', async () => {
  const requests = Array.from({ length: 200 }, (_, at) => `r-${at}`);
  const send = async () => {
    const tracer = await open({ OTEL_TRACES_SAMPLER_ARG: 0.25 });
    for (const requestId of requests) tracer.job(job('run', requestId), () => {});
    await tracer.close(flushMs);
    return collector.spans.splice(0).map(({ attributes }) => attributes['request.id']);
  };
  const first = await send();
  expect(first.length).toBeGreaterThan(20);
  expect(first.length).toBeLessThan(100);
  expect(await send()).toEqual(first);
});
