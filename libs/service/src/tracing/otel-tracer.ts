import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  TraceFlags,
  type Tracer as SdkTracer,
  context,
  createContextKey,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { parseTraceParent } from '@opentelemetry/core';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import { AlwaysOnSampler, TracerProvider } from '@opentelemetry/sdk-trace';
import { requestIdOf } from '../http/request-id';
import { createIdGenerator } from './id-generator';
import { type SpanIds, idsOfRequest } from './ids-of-request';
import {
  type OpenSpans,
  type OperationEnd,
  type SpanAttributes,
  type TracedJob,
  type Tracer,
  expectedFailure,
} from './operation';
import { type CollectorOptions, createSpanSender } from './send-spans';
import { TailSampling } from './tail-sampling';

export interface TracerOptions extends CollectorOptions {
  service: string;
  /** Part of the traces that is sent, from 0 to 1. */
  ratio: number;
}

/** A span without events, with at most this much of each. */
const spanLimits = {
  attributeCountLimit: 32,
  attributeValueLengthLimit: 256,
  linkCountLimit: 1,
  eventCountLimit: 0,
};
const maxNameChars = 128;

/** The tracer of the spans in a context. */
const tracerKey = createContextKey('tracer');

export function createTracer({ service, ratio, ...collector }: TracerOptions): Tracer {
  // The first call counts: one process has one context manager.
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const ids = createIdGenerator();
  const sender = createSpanSender(collector);
  const provider = new TracerProvider({
    resource: defaultResource().merge(
      resourceFromAttributes({ 'service.name': service, 'service.namespace': 'parley' }),
    ),
    // TailSampling decides.
    sampler: new AlwaysOnSampler(),
    idGenerator: ids,
    spanLimits,
    spanProcessors: [new TailSampling(sender.processor, ratio)],
  });
  const tracer = provider.getTracer('parley');
  const root = ROOT_CONTEXT.setValue(tracerKey, tracer);

  function openRequest(request: IncomingMessage, requestId: string): Span {
    const own = idsOfRequest(requestId);
    const caller = parseTraceParent(String(request.headers.traceparent ?? ''));
    const options = {
      kind: SpanKind.SERVER,
      attributes: { 'http.request.method': request.method, 'request.id': requestId },
    };
    const name = request.method!;
    if (caller?.traceId === own.traceId)
      return tracer.startSpan(name, options, remoteParent(root, caller));
    // Another trace is a client's, which could be any.
    const links = caller === null ? [] : [{ context: caller }];
    return ids.withIds(own, () => tracer.startSpan(name, { ...options, links }, root));
  }

  return {
    listen: (listener: RequestListener) => (request, response) => {
      // Stored, so that the listener uses the same request id as the trace.
      const requestId = requestIdOf(request);
      request.headers['x-request-id'] = requestId;
      const span = openRequest(request, requestId);
      response.once('close', () => endRequest(span, response));
      context.with(trace.setSpan(root, span), () => listener(request, response));
    },
    job({ name, id, attempt, requestId }: TracedJob, work) {
      const options = {
        kind: SpanKind.CONSUMER,
        attributes: {
          'messaging.system.name': 'bullmq',
          'messaging.operation.name': 'process',
          'messaging.operation.type': 'process',
          'messaging.destination.name': name,
          'messaging.message.id': id,
          'job.attempt': attempt,
          'request.id': requestId,
        },
      };
      // The span id of the request is derived from its id, so jobs do not carry it.
      const parent = requestId === undefined ? root : remoteParent(root, idsOfRequest(requestId));
      return runInSpan(tracer, `process ${name}`, options, parent, work, expectedFailure);
    },
    async close(timeoutMs) {
      const sent = provider.shutdown().catch(sender.onError).then(sender.settled);
      await Promise.race([sent, sleep(Math.max(0, timeoutMs), undefined, { ref: false })]);
    },
  };
}

const remoteParent = (root: Context, { traceId, spanId }: SpanIds): Context =>
  trace.setSpanContext(root, {
    traceId,
    spanId,
    traceFlags: TraceFlags.SAMPLED,
    isRemote: true,
  });

function endRequest(span: Span, { statusCode }: ServerResponse): void {
  const error = statusCode >= 500 ? String(statusCode) : undefined;
  end(span, { attributes: { 'http.response.status_code': statusCode }, error });
}

const kinds = { client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };

export const openSpans: OpenSpans = {
  within({ name, kind, attributes }, work, endOf) {
    const parent = context.active();
    const tracer = parent.getValue(tracerKey) as SdkTracer | undefined;
    if (tracer === undefined) return work();
    return runInSpan(tracer, name, { kind: kinds[kind], attributes }, parent, work, endOf);
  },
  traceparent() {
    const span = trace.getSpanContext(context.active());
    // Each process decides itself whether its spans are sent.
    return span && `00-${span.traceId}-${span.spanId}-01`;
  },
  nameRoute(method, route) {
    const span = trace.getActiveSpan();
    span?.updateName(`${method} ${route}`);
    span?.setAttribute('http.route', route);
  },
};

function runInSpan<T>(
  tracer: SdkTracer,
  name: string,
  options: SpanOptions,
  parent: Context,
  work: () => T,
  endOf: (value: Awaited<T>) => OperationEnd,
): T {
  const span = tracer.startSpan(name.slice(0, maxNameChars), options, parent);
  const failed = (error: unknown) => end(span, { error: classOf(error) });
  return context.with(trace.setSpan(parent, span), () => {
    let result: T;
    try {
      result = work();
    } catch (error) {
      failed(error);
      throw error;
    }
    if (result instanceof Promise) {
      // `work` keeps its promise: this one only ends the span.
      void result.then((value) => end(span, endOf(value)), failed);
    } else {
      end(span, endOf(result as Awaited<T>));
    }
    return result;
  });
}

function end(span: Span, { attributes = {}, error }: OperationEnd): void {
  setAttributes(span, attributes);
  if (error !== undefined) {
    span.setAttribute('error.type', error);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}

function setAttributes(span: Span, attributes: SpanAttributes): void {
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined) span.setAttribute(name, value);
}

/** The code or name of an error: `23505`, `ECONNRESET`, `TypeError`. */
function classOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^\w+$/.test(code) ? code : error.name;
}
