import { listVariable, numberVariable, serviceVariables, urlVariable } from '@parley/service';
import { z } from 'zod';

/**
 * The executor has no database, Redis or model credentials, so that an escape from a sandbox
 * cannot reach any.
 */
export const toolExecutorVariables = {
  ...serviceVariables(4004),
  EXECUTOR_TOKEN: z.string().meta({
    description: 'Bearer token required by /execute and /validate. Use a long random value.',
  }),
  CHAT_URL: urlVariable()
    .default('http://127.0.0.1:4002')
    .meta({ description: 'Address of chat, for tools that handlers call.' }),
  EXECUTOR_ALLOWED_PRIVATE_HOSTS: listVariable().meta({
    description:
      'Hosts, or host:port, that the fetch of handlers may reach although they are not public. For development. Default: none.',
  }),
  EXECUTOR_MIN_PROCESSES: numberVariable(2, 1, 256).unwrap().optional().meta({
    description:
      'Sandbox processes that are kept warm. Default: one for each processor, at least 2 and at most 4.',
  }),
  EXECUTOR_MAX_PROCESSES: numberVariable(16, 1, 256).meta({
    description:
      'Maximum number of sandbox processes, which organizations share. Each serves one call at a time, has about 25 MB and at most 144 MB with its requests. Custom tools called by custom tools have an additional eighth for each level of nesting. Lowered at the start when the memory of the container or machine is too small for all.',
  }),
  EXECUTOR_MAX_QUEUE: numberVariable(256, 0, 10_000).meta({
    description:
      'Calls that may wait for a process, which organizations share. Further calls are answered with 503.',
  }),
  EXECUTOR_QUEUE_TIMEOUT_MS: numberVariable(1500, 10, 60_000).meta({
    description: 'Milliseconds that a call waits for a process before it is answered with 503.',
  }),
  EXECUTOR_SANDBOX_UID: numberVariable(65_534, 1, 2 ** 31 - 1).meta({
    description: 'User id of the sandbox processes when the service itself runs as root.',
  }),
};
