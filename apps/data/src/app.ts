import type { RequestListener } from 'node:http';
import { operationsOf } from '@parley/contracts';
import { createIdempotencyStore, isDatabaseUnavailable } from '@parley/db';
import { createIdentify, createSessionCheck } from '@parley/identity';
import type { Entities } from '@parley/entities';
import { type BodyMemory, type HttpMetrics, type Logger, createApp, serve } from '@parley/service';
import type { CallerLimiter } from './limit-callers';
import { changeEntities } from './routes/change-entities';
import { createEntity } from './routes/create-entity';
import { deleteEntity } from './routes/delete-entity';
import { getEntity } from './routes/get-entity';
import { listEntities } from './routes/list-entities';
import { listEntityRelations } from './routes/list-entity-relations';
import { listEntityTypes } from './routes/list-entity-types';
import { queryEntities } from './routes/query-entities';
import { searchEntities } from './routes/search-entities';
import { syncPull } from './routes/sync-pull';
import { type PushDeps, syncPush } from './routes/sync-push';
import { syncState } from './routes/sync-state';
import { updateEntity } from './routes/update-entity';
import { queueSyncs } from './queue-syncs';
import { shareCounts } from './share-counts';

export interface DataDeps extends PushDeps {
  entities: Entities;
  log: Logger;
  /** Whether responses are checked against their schemas; off in production. */
  checkResponses: boolean;
  limiter?: CallerLimiter;
  metrics?: HttpMetrics;
  bodyMemory?: BodyMemory;
}

/**
 * The data service: the Data API and sync. Permissions and rate limits are in the table of
 * operations (libs/contracts).
 */
export function createDataApp(deps: DataDeps): RequestListener {
  const { db, log, metrics, checkResponses, limiter } = deps;
  return createApp({
    log,
    metrics,
    checkResponses,
    bodyMemory: deps.bodyMemory,
    identify: createIdentify(db, deps.keyLimit),
    findSession: createSessionCheck(db, { limit: deps.keyLimit }),
    limiter,
    idempotency: createIdempotencyStore(db),
    isUnavailable: isDatabaseUnavailable,
    routes: serve(
      { ...operationsOf.data, ...operationsOf.sync },
      {
        listEntityTypes: listEntityTypes(deps),
        ...shareCounts({ listEntities: listEntities(deps), queryEntities: queryEntities(deps) }),
        getEntity: getEntity(deps),
        listEntityRelations: listEntityRelations(deps),
        createEntity: createEntity(deps),
        searchEntities: searchEntities(deps),
        changeEntities: changeEntities(deps),
        updateEntity: updateEntity(deps),
        deleteEntity: deleteEntity(deps),
        syncState: syncState(deps),
        ...queueSyncs({ syncPull: syncPull(deps), syncPush: syncPush(deps) }),
      },
    ),
  });
}
