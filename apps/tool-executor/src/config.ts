import { listVariable, numberVariable, serviceVariables, urlVariable } from '@parley/service';
import { z } from 'zod';

/** No database, no Redis and no model key: a sandbox that leaks has nothing of the kind to give away. */
export const toolExecutorVariables = {
  ...serviceVariables(4004),
  EXECUTOR_TOKEN: z.string().meta({
    description: 'Bearer token that callers of /execute and /validate must show; long and random.',
  }),
  CHAT_URL: urlVariable()
    .default('http://127.0.0.1:4002')
    .meta({ description: 'Where chat listens, for the tools that handlers call.' }),
  EXECUTOR_ALLOWED_PRIVATE_HOSTS: listVariable().meta({
    description:
      "Hosts, or host:port, that handlers' fetch may reach although they are not public. For development; empty by default.",
  }),
  EXECUTOR_MIN_PROCESSES: numberVariable(4, 1, 256).meta({ description: 'Sandbox processes that are kept warm.' }),
  EXECUTOR_MAX_PROCESSES: numberVariable(16, 1, 256).meta({
    description:
      'Sandbox processes under load, about 25 MB each; one serves one call at a time. Custom tools that other custom tools wait for have an eighth more for each level they are deep.',
  }),
  EXECUTOR_MAX_QUEUE: numberVariable(256, 0, 10_000).meta({
    description: 'Calls that may wait for a process; one more is answered 503.',
  }),
  EXECUTOR_QUEUE_TIMEOUT_MS: numberVariable(1500, 10, 60_000).meta({
    description: 'Milliseconds that a call waits for a process before it is answered 503.',
  }),
  EXECUTOR_SANDBOX_UID: numberVariable(65_534, 1, 2 ** 31 - 1).meta({
    description: 'User id of the sandbox processes when the service itself runs as root.',
  }),
};
