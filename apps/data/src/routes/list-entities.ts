import { operations } from '@parley/contracts';
import { RawJson, route } from '@parley/service';
import type { DataDeps } from '../app';
import { requireAccess } from '../caller';
import { entityFailure } from '../entity-failure';

/** `GET /v1/data/:type`: a page, newest first. */
export const listEntitiesRoute = (deps: DataDeps) =>
  route(operations.listEntities, async ({ params: { type }, query }, context) => {
    const { access } = await requireAccess(deps, context, 'list', type);
    const listed = await deps.entities.list(context.scope, { type, ...query, access });
    if (!listed.ok) throw entityFailure(listed, type, 'query');
    return new RawJson(listed.page.json);
  });
