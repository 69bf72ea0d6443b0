import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';
import { createGuardedFetch } from '@parley/outbound';
import { createLogger, createMetrics, loadConfig, runService, startProcess } from '@parley/service';
import { createExecutorApp } from './app';
import { toolExecutorVariables } from './config';
import { createExecutor } from './executor';
import { fitProcesses, neededBytes } from './fit-processes';
import { createToolCallback } from './tool-callback';

startProcess(async () => {
  const config = loadConfig(toolExecutorVariables, process.env);
  const log = createLogger({ service: 'tool-executor', level: config.LOG_LEVEL });
  const metrics = createMetrics('tool-executor');
  // More processes than processors would only share them: calls that wait for other servers
  // make the pool grow.
  const minProcesses =
    config.EXECUTOR_MIN_PROCESSES ?? Math.min(4, Math.max(2, availableParallelism()));
  const wanted = Math.max(minProcesses, config.EXECUTOR_MAX_PROCESSES);
  // The limit of the container (cgroup), which may be unknown (0) or larger than the machine.
  const memoryBytes = Math.min(totalmem(), process.constrainedMemory() || Infinity);
  const maxProcesses = fitProcesses(wanted, memoryBytes);
  if (neededBytes(wanted) > memoryBytes) {
    log.warn(
      { wanted, maxProcesses, memoryBytes, neededBytes: neededBytes(wanted) },
      `the memory is too small for EXECUTOR_MAX_PROCESSES=${wanted}, with the processes for nested calls: it is lowered to ${maxProcesses}`,
    );
  }
  const executor = createExecutor({
    sandboxEntry: join(__dirname, 'sandbox-process.cjs'),
    sandboxUid: config.EXECUTOR_SANDBOX_UID,
    minProcesses: Math.min(minProcesses, maxProcesses),
    maxProcesses,
    maxQueue: config.EXECUTOR_MAX_QUEUE,
    queueTimeoutMs: config.EXECUTOR_QUEUE_TIMEOUT_MS,
    guardedFetch: createGuardedFetch({
      allowedPrivateHosts: config.EXECUTOR_ALLOWED_PRIVATE_HOSTS,
    }),
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
    checks: {
      sandbox: async () => void (executor.stats().processes > 0 || (await executor.warm())),
    },
    closing: [{ name: 'sandbox', close: () => executor.close() }],
  });
});
