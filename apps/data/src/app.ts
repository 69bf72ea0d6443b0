import type { RequestListener } from 'node:http';
import { type Db, createIdempotencyStore, isDatabaseUnavailable } from '@parley/db';
import { createApiKeyCheck } from '@parley/identity';
import type { Entities } from '@parley/entities';
import type { RateLimiter } from '@parley/queues';
import type { CheckHandler } from '@parley/resources';
import { type HttpMetrics, type Logger, createApp } from '@parley/service';
import { createEntityRoute } from './routes/create-entity';
import { deleteEntityRoute } from './routes/delete-entity';
import { getEntityRoute } from './routes/get-entity';
import { listEntitiesRoute } from './routes/list-entities';
import { listEntityTypesRoute } from './routes/list-entity-types';
import { pullResourcesRoute } from './routes/sync-pull';
import { pushResourcesRoute } from './routes/sync-push';
import { queryEntitiesRoute } from './routes/query-entities';
import { searchEntitiesRoute } from './routes/search-entities';
import { syncStateRoute } from './routes/sync-state';
import { updateEntityRoute } from './routes/update-entity';

export interface DataDeps {
  db: Db;
  entities: Entities;
  log: Logger;
  /** Outside production: answers are checked against their schemas. */
  checkResponses: boolean;
  limiter?: RateLimiter;
  metrics?: HttpMetrics;
  /** Parses the handlers of pushed tools; without it they are taken as they are. */
  checkHandler?: CheckHandler;
  /** Told after a push, which may have changed what is searched; it must neither wait nor throw. */
  requestReindexing: (requestId: string) => void;
}

/** Everything that is stored. The Data API needs a key with `data` and counts against the limits, sync needs `sync`. */
export function createDataApp(deps: DataDeps): RequestListener {
  const { db, log, metrics, checkResponses, limiter } = deps;
  return createApp({
    log,
    metrics,
    checkResponses,
    checkKey: createApiKeyCheck(db.pool),
    limiter,
    idempotency: createIdempotencyStore(db.pool),
    isUnavailable: isDatabaseUnavailable,
    routes: [
      listEntityTypesRoute(deps),
      listEntitiesRoute(deps),
      getEntityRoute(deps),
      createEntityRoute(deps),
      queryEntitiesRoute(deps),
      searchEntitiesRoute(deps),
      updateEntityRoute(deps),
      deleteEntityRoute(deps),
      pushResourcesRoute(deps),
      syncStateRoute(deps),
      pullResourcesRoute(deps),
    ],
  });
}
