import type { Entities } from '@parley/entities';
import { type Handler, RawJson } from '@parley/service';
import { type AccessDeps, requireAccess } from '../require-access';
import { entityFailure } from '../entity-failure';

/** `POST /v1/data/:type/query`: a page of the entities that match the filters. */
export const queryEntities =
  (deps: AccessDeps & { entities: Pick<Entities, 'query'> }): Handler<'queryEntities'> =>
  async ({ params: { type }, body }, context) => {
    const { access } = await requireAccess(deps, context, 'list', type);
    const queried = await deps.entities.query(context.scope, { type, ...body, access });
    if (!queried.ok) throw entityFailure(queried, type);
    return new RawJson(queried.page.json);
  };
