import type { IncomingMessage } from 'node:http';
import { openTracer, silentLogger } from '@parley/service';
import { startCollectorServer } from '@parley/testing';
import { requestHeaders } from './headers';

/** The names of the headers that are forwarded for a request with this Connection header. */
function forwarded(connection: string, rawHeaders: string[]): string[] {
  const request = { headers: { connection }, rawHeaders, socket: { remoteAddress: '203.0.113.9' } };
  const list = requestHeaders(request as unknown as IncomingMessage, {
    requestId: 'r',
    isTrusted: () => false,
  });
  return list
    .filter((_text, at) => at % 2 === 0)
    .filter((name) => !/^x-(forwarded|request)-/.test(name));
}

test('headers that Connection names are of the connection, whatever blanks are around their names', () => {
  const raw = ['X-One', '1', 'X-Two', '2', 'X-Three', '3'];
  expect(forwarded('x-one ,\t X-Two,,close', raw)).toEqual(['x-three']);
});

// A pattern that looks for a comma from each blank would take minutes.
test('a Connection header of blanks takes no quadratic time', () => {
  expect(forwarded(`a${' \t'.repeat(2_000_000)}b`, ['X-One', '1'])).toEqual(['x-one']);
});

test("with tracing, a service gets the gateway's trace in place of the client's, and none of its state", async () => {
  const raw = ['traceparent', `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, 'TraceState', 'a=b'];
  expect(forwarded('close', raw)).toEqual(['traceparent', 'tracestate']);
  const collector = await startCollectorServer();
  const config = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER_ARG: 1 };
  const tracer = await openTracer(config, silentLogger());
  const job = { name: 'a', id: '1', attempt: 1 };
  expect(tracer!.job(job, () => forwarded('close', raw))).toEqual(['traceparent']);
  await tracer!.close(10_000);
  await collector.stop();
});
