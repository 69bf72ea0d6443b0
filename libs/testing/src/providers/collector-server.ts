import { z } from 'zod';
import { type ProviderAnswer, type ProviderRequest, startProviderServer } from './provider-server';

export interface CollectedSpan {
  service: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  isError: boolean;
  attributes: Record<string, unknown>;
  links: { traceId: string; spanId: string }[];
}

type CollectorAnswer = (request: ProviderRequest) => ProviderAnswer | Promise<ProviderAnswer>;

export interface CollectorServer {
  url: string;
  /** The spans of all requests that were answered with a status below 300. */
  spans: CollectedSpan[];
  /** The parsed requests, with the spans that they had. */
  requests: (ProviderRequest & { spans: CollectedSpan[] })[];
  /** What differs from the protocol. */
  problems: string[];
  /** Answers the next requests. */
  play(answer: CollectorAnswer): void;
  stop(): Promise<void>;
}

const traceId = z.string().regex(/^[0-9a-f]{32}$/);
const spanId = z.string().regex(/^[0-9a-f]{16}$/);
const nanoseconds = z.string().regex(/^\d{19}$/);
const attributesSchema = z.array(
  z.strictObject({
    key: z.string().min(1),
    value: z.union([
      z.strictObject({ stringValue: z.string() }),
      z.strictObject({ intValue: z.union([z.int(), z.string().regex(/^-?\d+$/)]) }),
      z.strictObject({ doubleValue: z.number() }),
      z.strictObject({ boolValue: z.boolean() }),
      z.strictObject({ arrayValue: z.strictObject({ values: z.array(z.unknown()) }) }),
    ]),
  }),
);
const flags = z.int().optional();
const linkSchema = z.strictObject({
  traceId,
  spanId,
  traceState: z.string().optional(),
  attributes: attributesSchema,
  droppedAttributesCount: z.int(),
  flags,
});
const spanSchema = z.strictObject({
  traceId,
  spanId,
  parentSpanId: spanId.optional(),
  traceState: z.string().optional(),
  name: z.string().min(1),
  kind: z.int().min(1).max(5),
  startTimeUnixNano: nanoseconds,
  endTimeUnixNano: nanoseconds,
  attributes: attributesSchema,
  droppedAttributesCount: z.int(),
  events: z.array(z.unknown()),
  droppedEventsCount: z.int(),
  links: z.array(linkSchema),
  droppedLinksCount: z.int(),
  status: z.strictObject({ code: z.int().min(0).max(2), message: z.string().optional() }),
  flags,
});
const payloadSchema = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes: attributesSchema, droppedAttributesCount: z.int() }),
      scopeSpans: z.array(
        z.strictObject({
          scope: z.strictObject({ name: z.string(), version: z.string().optional() }),
          spans: z.array(spanSchema),
          schemaUrl: z.string().optional(),
        }),
      ),
      schemaUrl: z.string().optional(),
    }),
  ),
});

const kinds = ['internal', 'server', 'client', 'producer', 'consumer'] as const;
const errorStatus = 2;

/**
 * Starts a stand-in for an OpenTelemetry collector (OTLP over HTTP, as JSON) that
 * checks its requests.
 */
export async function startCollectorServer(): Promise<CollectorServer> {
  const state: Omit<CollectorServer, 'url' | 'stop' | 'play'> = {
    spans: [],
    requests: [],
    problems: [],
  };
  let answer: CollectorAnswer = () => ({ status: 200, body: {} });

  const server = await startProviderServer(async (request) => {
    const { method, path, headers, body } = request;
    if (method !== 'POST' || path !== '/v1/traces') state.problems.push(`${method} ${path}`);
    if (headers['content-type'] !== 'application/json')
      state.problems.push(`Content-Type: ${headers['content-type']}`);
    const parsed = payloadSchema.safeParse(body);
    if (!parsed.success) state.problems.push(z.prettifyError(parsed.error));
    const spans = parsed.success ? spansOf(parsed.data) : [];
    state.requests.push({ ...request, spans });
    const given = await answer(request);
    if (given !== 'drop' && given.status < 300) state.spans.push(...spans);
    return given;
  });
  return Object.assign(state, {
    url: server.url,
    stop: server.stop,
    play(next: CollectorAnswer) {
      answer = next;
    },
  });
}

function spansOf({ resourceSpans }: z.output<typeof payloadSchema>): CollectedSpan[] {
  const spans: CollectedSpan[] = [];
  for (const { resource, scopeSpans } of resourceSpans) {
    const service = String(valuesOf(resource.attributes)['service.name']);
    for (const span of scopeSpans.flatMap((scope) => scope.spans)) {
      spans.push({
        service,
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId,
        name: span.name,
        kind: kinds[span.kind - 1]!,
        isError: span.status.code === errorStatus,
        attributes: valuesOf(span.attributes),
        links: span.links.map(({ traceId, spanId }) => ({ traceId, spanId })),
      });
    }
  }
  return spans;
}

const valuesOf = (attributes: z.output<typeof attributesSchema>): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
