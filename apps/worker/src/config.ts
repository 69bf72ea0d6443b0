import { runtimeVariables } from '@parley/runtime';
import { redisVariables } from '@parley/redis';
import {
  databaseVariables,
  listVariable,
  type loadConfig,
  numberVariable,
  replicaVariables,
  serviceVariables,
} from '@parley/service';

export const workerVariables = {
  ...serviceVariables(4005),
  ...databaseVariables(30_000),
  ...replicaVariables,
  ...redisVariables,
  ...runtimeVariables,
  MESSAGING_WEBHOOK_SECRET: listVariable().meta({
    description:
      'Secret of the WhatsApp provider (Kapso). The secret that is registered for each connection is derived from it; from the first one if there are several.',
  }),
  MESSAGES_PER_CONTACT_PER_MINUTE: numberVariable(20, 1, 10_000).meta({
    description:
      'Messages of a WhatsApp contact within a minute that are answered one by one. Further ones are kept and answered together.',
  }),
  WEBHOOK_RETENTION_DAYS: numberVariable(30, 1).meta({
    description:
      'Days that a processed or ignored delivery of a provider is kept, counted from its arrival.',
  }),
  WEBHOOK_FAILED_RETENTION_DAYS: numberVariable(180, 1).meta({
    description:
      'Days that a delivery that failed or could not be attributed is kept, counted from its arrival.',
  }),
  EVENT_RETENTION_DAYS: numberVariable(365, 0).meta({
    description:
      'Days that events are kept, for event.query among others. An event that is not relayed yet, or that a run needs, is kept longer. 0 keeps all events.',
  }),
  TRIGGER_RUN_RETENTION_DAYS: numberVariable(90, 0).meta({
    description: 'Days that trigger runs are kept after their end. 0 keeps all runs.',
  }),
  PURGE_GRACE_DAYS: numberVariable(0, 0, 3_650).meta({
    description:
      'Days between the deletion of an organization at the identity provider and of its data here.',
  }),
};

/** Retention and grace periods in days, in the form that createWorker takes. */
export const retentionDays = (config: ReturnType<typeof loadConfig<typeof workerVariables>>) => ({
  purgeGraceDays: config.PURGE_GRACE_DAYS,
  retention: {
    doneDays: config.WEBHOOK_RETENTION_DAYS,
    openDays: config.WEBHOOK_FAILED_RETENTION_DAYS,
  },
  history: { eventDays: config.EVENT_RETENTION_DAYS, runDays: config.TRIGGER_RUN_RETENTION_DAYS },
});
