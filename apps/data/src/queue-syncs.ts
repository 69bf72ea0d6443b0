import { type Handler, queueRequests } from '@parley/service';

interface Syncs {
  syncPull: Handler<'syncPull'>;
  syncPush: Handler<'syncPush'>;
}

const limits = { waiting: 8, waitMs: 10_000 };

/**
 * Pushes of an organization run one at a time, and so do its pulls. A push holds all
 * definitions of an environment for a moment, a pull a part of them and a connection to
 * PostgreSQL while its client reads.
 */
export function queueSyncs({ syncPull, syncPush }: Syncs): Syncs {
  const pushes = queueRequests({
    ...limits,
    total: 3,
    code: 'too_many_syncs',
    message: 'Other pushes are running. Those of an organization run one at a time',
  });
  const pulls = queueRequests({
    ...limits,
    total: 6,
    code: 'too_many_syncs',
    message: 'Other pulls are running. Those of an organization run one at a time',
  });
  return { syncPull: pulls(syncPull), syncPush: pushes(syncPush) };
}
