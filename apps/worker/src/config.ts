import { runtimeVariables } from '@parley/runtime';
import {
  databaseVariables,
  listVariable,
  type loadConfig,
  numberVariable,
  redisVariables,
  serviceVariables,
} from '@parley/service';

export const workerVariables = {
  ...serviceVariables(4005),
  ...databaseVariables,
  ...redisVariables,
  ...runtimeVariables,
  MESSAGING_WEBHOOK_SECRET: listVariable().meta({
    description:
      'Secret of the WhatsApp intermediary (Kapso). What is registered for each connection is derived from it; of several, from the first.',
  }),
  WEBHOOK_RETENTION_DAYS: numberVariable(30, 1).meta({
    description: 'Days that deliveries of providers are kept after they came, once they are dealt with.',
  }),
  WEBHOOK_FAILED_RETENTION_DAYS: numberVariable(180, 1).meta({
    description: 'Days that deliveries are kept after they came when they failed or belong to nobody that is known.',
  }),
  EVENT_RETENTION_DAYS: numberVariable(365, 0).meta({
    description:
      'Days that events are kept; one that is not relayed, or that a run needs, stays longer. 0 keeps them for ever. Agents read them with event.query.',
  }),
  TRIGGER_RUN_RETENTION_DAYS: numberVariable(90, 0).meta({
    description: 'Days that trigger runs are kept after their end; 0 keeps them for ever.',
  }),
  PURGE_GRACE_DAYS: numberVariable(0, 0, 3_650).meta({
    description: 'Days between the deletion of an organization at the identity provider and that of all its data here.',
  }),
};

/** How many days things are kept, as the jobs take it. */
export const keptDays = (config: ReturnType<typeof loadConfig<typeof workerVariables>>) => ({
  purgeGraceDays: config.PURGE_GRACE_DAYS,
  retention: { doneDays: config.WEBHOOK_RETENTION_DAYS, openDays: config.WEBHOOK_FAILED_RETENTION_DAYS },
  history: { eventDays: config.EVENT_RETENTION_DAYS, runDays: config.TRIGGER_RUN_RETENTION_DAYS },
});
