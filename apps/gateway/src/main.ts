import {
  OpenStreams,
  createLogger,
  createMetrics,
  loadConfig,
  runService,
  startProcess,
  trustedProxies,
} from '@parley/service';
import { join } from 'node:path';
import { createConsole } from './console-files';
import { createGatewayApp } from './create-gateway-app';
import { createNetworkAddress } from './callers';
import { gatewayVariables } from './config';
import { createIncomingBodies } from './incoming-bodies';
import { serverOptions, tuneServer } from './sockets';
import { createUpstreams } from './upstreams';

startProcess(async () => {
  const config = loadConfig(gatewayVariables, process.env);
  const log = createLogger({ service: 'gateway', level: config.LOG_LEVEL });
  const metrics = createMetrics('gateway');
  const failures = metrics.counter(
    'gateway_upstream_failures_total',
    'Failed attempts to reach an upstream.',
    ['upstream', 'reason'],
  );
  const unprocessed = metrics.counter(
    'gateway_unprocessed_webhooks_total',
    'Webhooks that were answered with 200 although their service did not receive or answer them.',
    ['route'],
  );
  const { upstreams, close } = createUpstreams({
    chat: { url: config.CHAT_URL, deadlineMs: config.CHAT_DEADLINE_MS },
    data: { url: config.DATA_URL, deadlineMs: config.DEADLINE_MS },
    'webhook-ingest': { url: config.WEBHOOK_INGEST_URL, deadlineMs: config.DEADLINE_MS },
    manage: { url: config.MANAGE_URL, deadlineMs: config.DEADLINE_MS },
    'tool-executor': { url: config.TOOL_EXECUTOR_URL, deadlineMs: config.EXECUTOR_DEADLINE_MS },
  });
  const streams = new OpenStreams();
  const app = createGatewayApp({
    upstreams,
    // Beside the bundle.
    sendConsole: createConsole(join(__dirname, 'console')),
    streams,
    streamIdleMs: config.STREAM_IDLE_MS,
    isTrusted: trustedProxies(config.TRUSTED_PROXIES),
    networkAddressOf: createNetworkAddress(config.TRUSTED_PROXIES),
    bodies: createIncomingBodies({
      memoryBytes: config.BODY_MEMORY_MIB * 1024 * 1024,
      graceMs: config.BODY_GRACE_MS,
      minBytesPerSecond: config.BODY_MIN_BYTES_PER_SECOND,
      slowPerAddress: config.SLOW_BODIES_PER_ADDRESS,
    }),
    log,
    metrics,
    onUpstreamFailure: (upstream, reason) => failures.inc({ upstream, reason }),
    onFixedReply: (route) => unprocessed.inc({ route }),
  });
  await runService({
    config,
    log,
    metrics,
    app,
    serverOptions,
    tune: (server) => tuneServer(server, app, log),
    streams,
    checks: {},
    closing: [{ name: 'upstream connections', close }],
  });
});
