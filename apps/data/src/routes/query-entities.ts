import { operations } from '@parley/contracts';
import { RawJson, route } from '@parley/service';
import type { DataDeps } from '../app';
import { requireAccess } from '../caller';
import { entityFailure } from '../entity-failure';

/** `POST /v1/data/:type/query`: a page of what the filters match. */
export const queryEntitiesRoute = (deps: DataDeps) =>
  route(operations.queryEntities, async ({ params: { type }, body }, context) => {
    const { access } = await requireAccess(deps, context, 'list', type);
    const queried = await deps.entities.query(context.scope, { type, ...body, access });
    if (!queried.ok) throw entityFailure(queried, type);
    return new RawJson(queried.page.json);
  });
