import { join } from 'node:path';
import { createGuardedFetch } from '@parley/outbound';
import { createLogger, createMetrics, loadConfig, runService, startProcess } from '@parley/service';
import { createExecutorApp } from './app';
import { toolExecutorVariables } from './config';
import { createExecutor } from './executor';
import { createToolCallback } from './tool-callback';

startProcess(async () => {
  const config = loadConfig(toolExecutorVariables, process.env);
  const log = createLogger({ service: 'tool-executor', level: config.LOG_LEVEL });
  const metrics = createMetrics('tool-executor');
  const executor = createExecutor({
    sandboxEntry: join(__dirname, 'sandbox-process.cjs'),
    sandboxUid: config.EXECUTOR_SANDBOX_UID,
    minProcesses: config.EXECUTOR_MIN_PROCESSES,
    maxProcesses: Math.max(config.EXECUTOR_MIN_PROCESSES, config.EXECUTOR_MAX_PROCESSES),
    maxQueue: config.EXECUTOR_MAX_QUEUE,
    queueTimeoutMs: config.EXECUTOR_QUEUE_TIMEOUT_MS,
    guardedFetch: createGuardedFetch({ allowedPrivateHosts: config.EXECUTOR_ALLOWED_PRIVATE_HOSTS }),
    toolCallback: createToolCallback(),
    log,
    metrics,
  });
  await executor.warm();
  const app = createExecutorApp({
    executor,
    executorToken: config.EXECUTOR_TOKEN,
    chatUrl: config.CHAT_URL,
    log,
    metrics,
    checkResponses: config.NODE_ENV !== 'production',
  });
  await runService({
    config,
    log,
    metrics,
    app,
    checks: { sandbox: async () => void (executor.isReady() || (await executor.warm())) },
    closing: [{ name: 'sandbox', close: () => executor.close() }],
  });
});
