import { ROOT_CONTEXT, type Span, SpanStatusCode, trace } from '@opentelemetry/api';
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { TailSampling } from './tail-sampling';

/** Sends only the traces with an error. */
function open() {
  const exporter = new InMemorySpanExporter();
  const next = new SimpleSpanProcessor({ exporter });
  const provider = new TracerProvider({ spanProcessors: [new TailSampling(next, 0)] });
  const tracer = provider.getTracer('test');
  const start = (name: string, parent?: Span) =>
    tracer.startSpan(name, {}, parent ? trace.setSpan(ROOT_CONTEXT, parent) : ROOT_CONTEXT);
  return {
    start,
    fail(span: Span) {
      span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
    sent: () => exporter.getFinishedSpans().map(({ name }) => name),
  };
}

it('spans wait until one of their trace fails; from then on all are sent', () => {
  const { start, fail, sent } = open();
  const root = start('root');
  start('before', root).end();
  expect(sent()).toEqual([]);
  fail(start('cause', root));
  expect(sent()).toEqual(['before', 'cause']);
  start('after', root).end();
  root.end();
  expect(sent()).toEqual(['before', 'cause', 'after', 'root']);
});

it('a request inside of a request of the same trace is decided with it', () => {
  const { start, fail, sent } = open();
  const outer = start('outer');
  start('inner', outer).end();
  fail(outer);
  expect(sent()).toEqual(['inner', 'outer']);
});

it('what ended before a trace began again, such as an earlier job, is not sent', () => {
  const { start, fail, sent } = open();
  const first = start('first');
  first.end();
  fail(start('second', first));
  expect(sent()).toEqual(['second']);
});

it('of a long trace the latest 256 spans wait', () => {
  const { start, fail, sent } = open();
  const root = start('root');
  for (let at = 0; at < 10_000; at += 1) start(`step ${at}`, root).end();
  fail(root);
  expect(sent()).toHaveLength(257);
  expect(sent().slice(0, 1)).toEqual(['step 9744']);
  expect(sent().slice(-2)).toEqual(['step 9999', 'root']);
});

it('of many traces 4,096 spans wait: the one that began first gives its own up', () => {
  const { start, fail, sent } = open();
  const roots = Array.from({ length: 41 }, (_, at) => start(`root ${at}`));
  for (const [at, root] of roots.entries())
    for (let step = 0; step < 100; step += 1) start(`step of ${at}`, root).end();
  fail(roots[0]!);
  expect(sent()).toEqual(['root 0']);
  fail(roots[1]!);
  expect(sent()).toHaveLength(1 + 101);
});
