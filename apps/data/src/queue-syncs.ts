import { type Handler, queueRequests } from '@parley/service';

interface Syncs {
  syncPull: Handler<'syncPull'>;
  syncPush: Handler<'syncPush'>;
}

/**
 * Pushes and pulls of an organization run one at a time, and three in a process: a push holds all definitions of an environment for
 * a moment.
 */
export function queueSyncs({ syncPull, syncPush }: Syncs): Syncs {
  const queued = queueRequests({
    total: 3,
    waiting: 8,
    waitMs: 10_000,
    code: 'too_many_syncs',
    message: 'Other pushes and pulls of the organization are running. They run one at a time',
  });
  return { syncPull: queued(syncPull), syncPush: queued(syncPush) };
}
