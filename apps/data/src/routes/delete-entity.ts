import { type Handler, RawJson } from '@parley/service';
import { type OperationDeps, applyOperation } from '../apply-operation';
import { type AccessDeps, requireAccess } from '../require-access';

/** `DELETE /v1/data/:type/:id`: marks the entity as deleted. A repeated delete succeeds. */
export const deleteEntity =
  (deps: AccessDeps & OperationDeps): Handler<'deleteEntity'> =>
  async ({ params: { type, id } }, context) => {
    const access = await requireAccess(deps, context, 'delete', type);
    const operation = { action: 'delete', id } as const;
    return new RawJson((await applyOperation(deps, context, { type, operation, access })).json);
  };
