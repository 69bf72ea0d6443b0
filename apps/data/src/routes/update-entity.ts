import type { Entities } from '@parley/entities';
import { type Handler, RawJson, forbidden } from '@parley/service';
import { type AccessDeps, originOf, requireAccess } from '../require-access';
import { entityFailure } from '../entity-failure';

/** `PATCH /v1/data/:type/:id`: merges `data` at the top level. A `status` restores a deleted entity. */
export const updateEntity =
  (deps: AccessDeps & { entities: Pick<Entities, 'update'> }): Handler<'updateEntity'> =>
  async ({ params: { type, id }, body }, context) => {
    const { access, denial } = await requireAccess(deps, context, 'update', type);
    // Setting a status can delete and restore an entity, so that requires the permission to delete as well.
    const deleteDenial = denial('delete');
    const updated = await deps.entities.update(context.scope, {
      type,
      id,
      ...body,
      access,
      mayDelete: deleteDenial === null,
      ...originOf(context),
    });
    if (updated.ok) return new RawJson(updated.entity.json);
    throw updated.reason === 'delete_denied'
      ? forbidden(deleteDenial!, 'permission_denied')
      : entityFailure(updated, type);
  };
