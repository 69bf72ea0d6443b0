import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedSpan {
  service: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
}

interface Payload {
  resourceSpans: {
    resource: { attributes: { key: string; value: { stringValue?: string } }[] };
    scopeSpans: { spans: Omit<ReceivedSpan, 'service'>[] }[];
  }[];
}

/** Starts an OpenTelemetry collector (OTLP over HTTP, JSON) that keeps the spans that it receives. */
export async function startCollector(): Promise<{
  url: string;
  spans: ReceivedSpan[];
  /** The unparsed bodies of all requests. */
  bodies: string[];
  close(): void;
}> {
  const spans: ReceivedSpan[] = [];
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    const text = (await request.toArray()).join('');
    bodies.push(text);
    for (const { resource, scopeSpans } of (JSON.parse(text) as Payload).resourceSpans) {
      const service =
        resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? '';
      for (const span of scopeSpans.flatMap((scope) => scope.spans))
        spans.push({ service, ...span });
    }
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    bodies,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
