import { rollUpExecutions } from '@parley/agents';
import { type Db, createIdempotencyStore } from '@parley/db';
import { type JobHandlers, type Queues, type RedisConnection, consume } from '@parley/redis';
import type { Logger, Metrics, Tracer } from '@parley/service';
import type { Retention } from '@parley/webhooks';
import { createAnswerConversation } from './jobs/answer-conversation';
import { createApplyBilling } from './jobs/apply-billing';
import { createConfirmPayment } from './jobs/confirm-payment';
import { createPurgeOrganization } from './jobs/purge-organization';
import { createReceiveMessages } from './jobs/receive-messages';
import { createReconcilePayments } from './jobs/reconcile-payments';
import { createReindexEntityType } from './jobs/reindex-entity-type';
import { createRunExecution } from './jobs/run-execution';
import { createRunTriggers } from './jobs/run-triggers';
import { createSweepChannels } from './jobs/sweep-channels';
import { createSweepDeliveries } from './jobs/sweep-deliveries';
import { createSweepExecutions } from './jobs/sweep-executions';
import { createSweepHeldTokens } from './jobs/sweep-held-tokens';
import { createSweepPurges } from './jobs/sweep-purges';
import { createSweepRegistrations } from './jobs/sweep-registrations';
import { createSweepReindexing } from './jobs/sweep-reindexing';
import { createSweepThreads } from './jobs/sweep-threads';
import { type HistoryRetention, createSweepRetention } from './jobs/sweep-retention';
import { createSyncIdentity } from './jobs/sync-identity';
import { createUpdateChannel } from './jobs/update-channel';
import { createUpdateEmail } from './jobs/update-email';
import { observeJobs } from './observe-jobs';
import { relayEvents } from './relay-events';
import type { JobRuntime } from './job-runtime';

export interface WorkerDeps extends Omit<JobRuntime, 'closing'> {
  db: Db;
  queues: Queues;
  /** Opened with the role `worker`. */
  redis: RedisConnection;
  log: Logger;
  metrics?: Metrics;
  tracer?: Tracer;
  /**
   * Days between the deletion of an organization at the identity provider and the deletion
   * of its data here.
   */
  purgeGraceDays: number;
  /** Retention of webhook deliveries. */
  retention: Retention;
  /** Retention of events and trigger runs. */
  history: HistoryRetention;
}

const scheduleEveryMs = 10_000;

/** Runs all jobs. A handler is a file in jobs/, or a call of a library. */
export function createWorker(options: WorkerDeps): { close(): Promise<void> } {
  const { db, queues, redis, log, channels, fetchGuarded } = options;
  const jobs = observeJobs(options);
  const deps = { ...options, observe: jobs.observe };
  const runs = createRunTriggers(deps);
  const executions = createRunExecution(deps);
  const answers = createAnswerConversation(deps);
  const handlers: JobHandlers = {
    'reindex-entity-type': createReindexEntityType(deps),
    'sweep-reindexing': createSweepReindexing(deps),
    'sweep-idempotency': async () => void (await createIdempotencyStore(db).sweep()),
    'run-triggers': runs.handle,
    'sync-identity': createSyncIdentity(deps),
    'sweep-deliveries': createSweepDeliveries(deps),
    'sweep-held-tokens': createSweepHeldTokens(deps),
    'purge-organization': createPurgeOrganization(deps),
    'sweep-purges': createSweepPurges(deps),
    'update-channel': createUpdateChannel(deps),
    'receive-messages': createReceiveMessages(deps),
    'answer-conversation': answers.handle,
    'run-execution': executions.handle,
    'sweep-executions': createSweepExecutions(deps),
    // One attempt each. The rows decide about further ones.
    'fetch-media': async ({ tenant, messageId: id }) =>
      void (await channels.fetchMedia({ tenant, id }, fetchGuarded)),
    'send-message': ({ messageId }, { signal }) => channels.sendQueuedMessages(messageId, signal),
    'send-email': async ({ emailId }) => void (await channels.sendQueuedEmail(emailId)),
    'sweep-channels': createSweepChannels(deps),
    'sweep-threads': createSweepThreads(deps),
    'sweep-registrations': createSweepRegistrations(deps),
    'sweep-retention': createSweepRetention(deps),
    'roll-up-executions': async (_payload, { signal }) => void (await rollUpExecutions(db, signal)),
    'apply-billing': createApplyBilling(deps),
    'update-email': createUpdateEmail(deps),
    'confirm-payment': createConfirmPayment(deps),
    'reconcile-payments': createReconcilePayments(deps),
  };
  const consumer = consume({
    redis,
    handlers: jobs.traced(handlers),
    onFinished: jobs.onFinished,
    onError: (error, count) => log.warn({ err: error, count }, 'the queues report errors'),
  });

  const relay = relayEvents({ ...deps, runs });
  // Repeated, as Redis may be down at the start and may lose the schedules.
  const schedule = () =>
    queues.schedule().catch((error: unknown) => log.warn({ err: error }, 'no jobs scheduled'));
  void schedule();
  const timer = setInterval(schedule, scheduleEveryMs);
  return {
    async close() {
      clearInterval(timer);
      await relay.close();
      await Promise.all([consumer.close(), runs.close(), executions.close(), answers.close()]);
    },
  };
}
