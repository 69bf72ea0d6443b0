import { operations } from '@parley/contracts';
import { RawJson, route } from '@parley/service';
import type { DataDeps } from '../app';
import { requireAccess } from '../caller';
import { entityFailure } from '../entity-failure';

/** `POST /v1/data/:type/search`: full text over the type's `searchFields`, best matches first. */
export const searchEntitiesRoute = (deps: DataDeps) =>
  route(operations.searchEntities, async ({ params: { type }, body }, context) => {
    const { access } = await requireAccess(deps, context, 'list', type);
    const searched = await deps.entities.search(context.scope, { type, ...body, access });
    if (!searched.ok) throw entityFailure(searched, type);
    return new RawJson(searched.list.json);
  });
