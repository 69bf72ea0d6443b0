import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { announceClosing, closeServer } from './close-server';
import type { OpenStreams } from '../http/open-streams';
import { createInternalServer } from './internal-server';
import type { Logger } from './logger';
import type { Metrics } from './metrics';
import { shrinkHeapWhenIdle } from './shrink-heap';
import type { Tracer } from '../tracing/operation';
import { type TracingConfig, openTracer } from '../tracing/tracing';

export interface ServiceOptions {
  config: TracingConfig & {
    HOST: string;
    PORT: number;
    INTERNAL_PORT: number;
    SHUTDOWN_TIMEOUT_MS: number;
    SHUTDOWN_DRAIN_MS: number;
  };
  log: Logger;
  metrics: Metrics;
  /** Created from the configuration by default. */
  tracer?: Tracer;
  /** Absent for a process that serves no HTTP requests. */
  app?: RequestListener;
  /** Override the default timeouts and header limits. */
  serverOptions?: ServerOptions;
  /** Adds listeners to the server before it listens, such as one for `clientError`. */
  tune?: (server: Server) => void;
  /** Ended at shutdown before the other requests are waited for. */
  streams?: OpenStreams;
  checks: Record<string, () => Promise<unknown>>;
  /** Closed after the last request, in this order: workers, queues, Redis, database. */
  closing: { name: string; close: () => Promise<unknown> }[];
}

/** Time at shutdown for the last spans, which a collector that does not answer must not delay. */
const flushTimeoutMs = 2_000;

const defaultServerOptions: ServerOptions = {
  keepAliveTimeout: 65_000,
  headersTimeout: 20_000,
  requestTimeout: 120_000,
  // A request without a body emits no `data`, `end` or `close`, and is `destroyed` from the start:
  // use the events of its response.
  optimizeEmptyRequests: true,
};

/**
 * Runs a service until SIGTERM or SIGINT, then shuts down in phases: `/readyz` reports that it is
 * not ready; for SHUTDOWN_DRAIN_MS requests are still answered, each with `Connection: close`;
 * streams are ended; new connections are refused; running requests end; `closing` runs in order.
 * After SHUTDOWN_TIMEOUT_MS the process exits with status 1.
 */
export async function runService(options: ServiceOptions): Promise<void> {
  const { config, log, metrics, checks, closing } = options;
  const tracer = options.tracer ?? (await openTracer(config, log));
  const app = options.app && (tracer?.listen(options.app) ?? options.app);
  let shuttingDown = false;
  const internal = createInternalServer(
    metrics,
    { checks, isShuttingDown: () => shuttingDown },
    config,
  );
  const server =
    app === undefined
      ? undefined
      : createServer({ ...defaultServerOptions, ...options.serverOptions }, app);
  if (server) options.tune?.(server);
  // Before the first request, which it would delay.
  shrinkHeapWhenIdle();
  await listen(internal, config.INTERNAL_PORT, config.HOST);
  if (server) await listen(server, config.PORT, config.HOST);
  log.info(
    {
      port: server && (server.address() as AddressInfo).port,
      internalPort: (internal.address() as AddressInfo).port,
    },
    'listening',
  );

  const shutDown = async (signal: string) => {
    if (shuttingDown) return;
    shuttingDown = true;
    const endsAtMs = performance.now() + config.SHUTDOWN_TIMEOUT_MS;
    log.info({ signal }, 'shutting down');
    const deadline = setTimeout(() => {
      log.error('shutdown timed out');
      process.exit(1);
    }, config.SHUTDOWN_TIMEOUT_MS);
    deadline.unref();
    if (server) {
      announceClosing(server);
      if (config.SHUTDOWN_DRAIN_MS > 0) await sleep(config.SHUTDOWN_DRAIN_MS);
      options.streams?.endAll();
      await closeServer(server);
    }
    for (const { name, close } of closing) {
      await close().catch((error: unknown) => log.error({ err: error }, `closing ${name} failed`));
    }
    await tracer?.close(Math.min(flushTimeoutMs, (endsAtMs - performance.now()) / 2));
    await closeServer(internal);
    log.info('stopped');
    process.exit(0);
  };
  process.on('SIGTERM', (signal) => void shutDown(signal));
  process.on('SIGINT', (signal) => void shutDown(signal));
}

/**
 * Runs `main`. An error that it throws is written to stderr as one line, and the process exits with
 * status 1. Libraries' console lines are dropped: the log consists of JSON lines, and the lines of
 * a model's client quote messages of people.
 */
export function startProcess(main: () => Promise<void>): void {
  for (const method of ['debug', 'log', 'info', 'warn', 'error', 'trace'] as const)
    // eslint-disable-next-line no-console -- it is replaced here
    console[method] = () => {};
  main().catch((error: unknown) => {
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${message}\n`);
    process.exit(1);
  });
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'EADDRINUSE' ? new Error(`Port ${port} is already in use`) : error),
    );
    server.listen(port, host, resolve);
  });
}
