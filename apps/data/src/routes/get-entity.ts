import { operations } from '@parley/contracts';
import { RawJson, route } from '@parley/service';
import type { DataDeps } from '../app';
import { requireAccess } from '../caller';
import { entityFailure } from '../entity-failure';

/** `GET /v1/data/:type/:id` */
export const getEntityRoute = (deps: DataDeps) =>
  route(operations.getEntity, async ({ params: { type, id } }, context) => {
    const { access } = await requireAccess(deps, context, 'read', type);
    const found = await deps.entities.get(context.scope, { type, id, access });
    if (!found.ok) throw entityFailure(found, type);
    return new RawJson(found.entity.json);
  });
