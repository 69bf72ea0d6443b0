import { operations } from '@parley/contracts';
import { RawJson, route } from '@parley/service';
import type { DataDeps } from '../app';
import { originOf, requireAccess } from '../caller';
import { entityFailure } from '../entity-failure';

const success = new RawJson('{"success":true}');

/** `DELETE /v1/data/:type/:id`: soft delete; again is as good. */
export const deleteEntityRoute = (deps: DataDeps) =>
  route(operations.deleteEntity, async ({ params: { type, id } }, context) => {
    const { access } = await requireAccess(deps, context, 'delete', type);
    const deleted = await deps.entities.remove(context.scope, { type, id, access, ...originOf(context) });
    if (!deleted.ok) throw entityFailure(deleted, type);
    return success;
  });
