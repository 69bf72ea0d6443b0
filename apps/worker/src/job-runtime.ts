import type { ConnectDeps } from '@parley/channels';
import type { loadConfig } from '@parley/service';
import { type GuardedFetch, createGuardedFetch } from '@parley/outbound';
import { type Runtime, createRuntime } from '@parley/runtime';
import type { workerVariables } from './config';

export interface JobRuntime extends Runtime {
  connect: ConnectDeps;
  /** Messages of a contact within a minute that are answered one by one. */
  messagesPerContact: number;
  /**
   * Fetches files of messages, from the public internet and from the deployment's own
   * addresses of Kapso.
   */
  fetchGuarded: GuardedFetch['fetch'];
}

type Deps = Parameters<typeof createRuntime>[0] & {
  config: ReturnType<typeof loadConfig<typeof workerVariables>>;
};

export function createJobRuntime(deps: Deps): JobRuntime {
  const runtime = createRuntime(deps);
  const { PUBLIC_URL, MESSAGING_WEBHOOK_SECRET, KAPSO_API_URL, STAND_INS_URL } = deps.config;
  const providers = [KAPSO_API_URL, STAND_INS_URL].flatMap((url) =>
    url === undefined ? [] : new URL(url).host,
  );
  const guarded = createGuardedFetch({ allowedPrivateHosts: providers });
  return {
    ...runtime,
    fetchGuarded: guarded.fetch,
    closing: [...runtime.closing, { name: 'media', close: () => guarded.close() }],
    messagesPerContact: deps.config.MESSAGES_PER_CONTACT_PER_MINUTE,
    connect: {
      db: deps.db,
      accounts: runtime.channels.accounts,
      webhookUrl: `${PUBLIC_URL}/webhook/kapso/messages`,
      webhookSecrets: MESSAGING_WEBHOOK_SECRET,
    },
  };
}
