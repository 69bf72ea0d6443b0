import { type CollectorServer, startCollectorServer, until } from '@parley/testing';
import { createLogger } from '../process/logger';
import type { Tracer } from './operation';
import { openTracer } from './tracing';

let collector: CollectorServer;
beforeEach(async () => {
  collector = await startCollectorServer();
});
afterEach(async () => {
  await collector.stop();
  expect(collector.problems).toEqual([]);
});

const lines: { reason?: string; msg: string }[] = [];
const log = createLogger({
  service: 'test',
  destination: { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[number]) },
});
beforeEach(() => lines.splice(0));

const flushMs = 30_000;
const job = { name: 'run', id: '1', attempt: 1 };
const open = async (endpoint = collector.url): Promise<Tracer> =>
  (await openTracer({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER_ARG: 1 }, log))!;

it.each([
  ['refuses', () => ({ status: 401, body: { token: 'secret-text' } }), 'Unauthorized'],
  ['is broken', () => ({ status: 500, body: 'secret-text' }), 'Internal Server Error'],
  ['is busy', () => ({ status: 503, headers: { 'Retry-After': '60' } }), 'retryable'],
  [
    'answers with garbage',
    () => ({ status: 200, body: Buffer.from('<html>') }),
    'is not valid JSON',
  ],
  [
    'takes a part',
    () => ({ status: 200, body: { partialSuccess: { rejectedSpans: 3 } } }),
    'rejectedSpans',
  ],
])('a collector that %s: work continues, and one line says so', async (_what, answer, reason) => {
  collector.play(answer);
  const tracer = await open();
  // More than a batch, so that there are two.
  for (let at = 0; at < 600; at += 1) tracer.job(job, () => {});
  expect(await tracer.job(job, async () => 1)).toBe(1);
  await tracer.close(flushMs);
  expect(collector.requests.length).toBeGreaterThan(1);
  expect(lines.map(({ msg }) => msg)).toEqual(['cannot send traces']);
  expect(lines[0]!.reason).toContain(reason);
  expect(JSON.stringify(lines)).not.toContain('secret-text');
});

it('a collector that cannot be reached: work continues, and one line says so', async () => {
  const tracer = await open('http://127.0.0.1:1');
  expect(await tracer.job(job, async () => 1)).toBe(1);
  await tracer.close(flushMs);
  expect(lines.map(({ reason }) => reason)).toEqual([expect.stringContaining('ECONNREFUSED')]);
});

it('a collector that hangs: it holds a bounded number of spans, and does not delay a shutdown', async () => {
  const end = Promise.withResolvers<{ status: number }>();
  collector.play(() => end.promise);
  const tracer = await open();
  for (let at = 0; at < 20_000; at += 1) tracer.job(job, () => {});
  await until(() => collector.requests.length > 0);
  expect(await tracer.job(job, async () => 1)).toBe(1);
  await tracer.close(0);
  // The rest was dropped: one batch is sent and four wait.
  await until(() => collector.requests.length === 5);
  const held = collector.requests.reduce((sum, { spans }) => sum + spans.length, 0);
  expect(held).toBe(5 * 512);
  end.resolve({ status: 200 });
  await tracer.close(flushMs);
});
