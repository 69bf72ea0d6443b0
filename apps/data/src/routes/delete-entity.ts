import type { Entities } from '@parley/entities';
import { type Handler, RawJson } from '@parley/service';
import { type AccessDeps, originOf, requireAccess } from '../require-access';
import { entityFailure } from '../entity-failure';

const success = new RawJson('{"success":true}');

/** `DELETE /v1/data/:type/:id`: marks the entity as deleted. A repeated delete succeeds. */
export const deleteEntity =
  (deps: AccessDeps & { entities: Pick<Entities, 'remove'> }): Handler<'deleteEntity'> =>
  async ({ params: { type, id } }, context) => {
    const { access } = await requireAccess(deps, context, 'delete', type);
    const deleted = await deps.entities.remove(context.scope, { type, id, access, ...originOf(context) });
    if (!deleted.ok) throw entityFailure(deleted, type);
    return success;
  };
