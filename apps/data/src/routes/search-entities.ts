import type { Entities } from '@parley/entities';
import { type Handler, RawJson } from '@parley/service';
import { type AccessDeps, requireAccess } from '../require-access';
import { entityFailure } from '../entity-failure';

/**
 * `POST /v1/data/:type/search`: full-text search in the type's `searchFields`, best matches first.
 */
export const searchEntities =
  (deps: AccessDeps & { entities: Pick<Entities, 'search'> }): Handler<'searchEntities'> =>
  async ({ params: { type }, body }, context) => {
    const { access } = await requireAccess(deps, context, 'list', type);
    const searched = await deps.entities.search(context.scope, { type, ...body, access });
    if (!searched.ok) throw entityFailure(searched, type);
    return new RawJson(searched.list.json);
  };
