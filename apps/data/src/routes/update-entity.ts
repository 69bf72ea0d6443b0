import { type Handler, RawJson } from '@parley/service';
import { type OperationDeps, applyOperation } from '../apply-operation';
import { type AccessDeps, requireAccess } from '../require-access';

/**
 * `PATCH /v1/data/:type/:id`: merges `data` at the top level. A `status` restores a deleted entity.
 */
export const updateEntity =
  (deps: AccessDeps & OperationDeps): Handler<'updateEntity'> =>
  async ({ params: { type, id }, body }, context) => {
    const access = await requireAccess(deps, context, 'update', type);
    const operation = { action: 'update', id, ...body } as const;
    return new RawJson((await applyOperation(deps, context, { type, operation, access })).json);
  };
