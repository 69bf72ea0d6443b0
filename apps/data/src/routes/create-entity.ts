import { createIdempotencyStore } from '@parley/db';
import type { CreateInput, Entities } from '@parley/entities';
import { type Handler, type CallerContext, RawJson, conflict } from '@parley/service';
import { type AccessDeps, originOf, requireAccess } from '../require-access';
import { entityFailure } from '../entity-failure';

type CreateDeps = AccessDeps & { entities: Pick<Entities, 'create'> };

/** `POST /v1/data/:type` */
export const createEntity =
  (deps: CreateDeps): Handler<'createEntity'> =>
  async ({ params: { type }, body }, context) => {
    const { access } = await requireAccess(deps, context, 'create', type);
    const input = { type, ...body, access, ...originOf(context) };
    const created = await (context.idempotency
      ? createOnce(deps, context, input)
      : deps.entities.create(context.scope, input));
    if (!created.ok) throw entityFailure(created, type);
    return new RawJson(created.entity.json);
  };

/** Stores the entity and the response for its `Idempotency-Key` in one transaction, so a retry creates no second entity. */
async function createOnce(
  { db, entities }: CreateDeps,
  { scope, idempotency }: CallerContext,
  input: CreateInput,
): ReturnType<Entities['create']> {
  const result = await db.transaction(async (client) => {
    const created = await entities.create(scope, input, client);
    if (created.ok && !(await createIdempotencyStore(client).finish(idempotency!, 201, created.entity.json))) {
      throw conflict('Another request with this Idempotency-Key has replaced this one', 'idempotency_in_progress');
    }
    return created;
  });
  if (result.ok) idempotency!.isAnswerStored = true;
  return result;
}
