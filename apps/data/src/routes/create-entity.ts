import { type Handler, RawJson } from '@parley/service';
import { type OperationDeps, applyOperation } from '../apply-operation';
import { changeOnce } from '../change-once';
import { type AccessDeps, requireAccess } from '../require-access';

/** `POST /v1/data/:type` */
export const createEntity =
  (deps: AccessDeps & OperationDeps): Handler<'createEntity'> =>
  async ({ params: { type }, body }, context) => {
    const access = await requireAccess(deps, context, 'create', type);
    const change = { type, operation: { action: 'create', ...body }, access } as const;
    const { idempotency } = context;
    if (idempotency === undefined)
      return new RawJson((await applyOperation(deps, context, change)).json);
    return new RawJson(
      await changeOnce(
        deps.db,
        idempotency,
        201,
        async (tx) => (await applyOperation(deps, context, { ...change, tx })).json,
      ),
    );
  };
