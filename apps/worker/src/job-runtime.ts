import type { ConnectDeps } from '@parley/channels';
import type { loadConfig } from '@parley/service';
import { type Runtime, createRuntime } from '@parley/runtime';
import type { workerVariables } from './config';

export interface JobRuntime extends Runtime {
  connect: ConnectDeps;
  /** Messages of a contact within a minute that are answered one by one. */
  messagesPerContact: number;
}

type Deps = Parameters<typeof createRuntime>[0] & { config: ReturnType<typeof loadConfig<typeof workerVariables>> };

export function createJobRuntime(deps: Deps): JobRuntime {
  const runtime = createRuntime(deps);
  const { PUBLIC_URL, MESSAGING_WEBHOOK_SECRET } = deps.config;
  return {
    ...runtime,
    messagesPerContact: deps.config.MESSAGES_PER_CONTACT_PER_MINUTE,
    connect: {
      db: deps.db,
      accounts: runtime.channels.accounts,
      webhookUrl: `${PUBLIC_URL}/webhook/kapso/messages`,
      webhookSecrets: MESSAGING_WEBHOOK_SECRET,
    },
  };
}
