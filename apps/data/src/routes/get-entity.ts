import type { Entities } from '@parley/entities';
import { type Handler, RawJson } from '@parley/service';
import { type AccessDeps, requireAccess } from '../require-access';
import { entityFailure } from '../entity-failure';

/** `GET /v1/data/:type/:id` */
export const getEntity =
  (deps: AccessDeps & { entities: Pick<Entities, 'get'> }): Handler<'getEntity'> =>
  async ({ params: { type, id } }, context) => {
    const { access } = await requireAccess(deps, context, 'read', type);
    const found = await deps.entities.get(context.scope, { type, id, access });
    if (!found.ok) throw entityFailure(found, type);
    return new RawJson(found.entity.json);
  };
