import { createIdempotencyStore } from '@parley/db';
import type { CreateInput, Entities } from '@parley/entities';
import { type Handler, type CallerContext, RawJson, conflict } from '@parley/service';
import { type AccessDeps, originOf, requireAccess } from '../caller';
import { entityFailure } from '../entity-failure';

type CreateDeps = AccessDeps & { entities: Pick<Entities, 'create'> };

/** `POST /v1/data/:type` */
export const createEntity =
  (deps: CreateDeps): Handler<'createEntity'> =>
  async ({ params: { type }, body }, context) => {
    const { access } = await requireAccess(deps, context, 'create', type);
    const input = { type, ...body, access, ...originOf(context) };
    const made = await (context.idempotency
      ? createOnce(deps, context, input)
      : deps.entities.create(context.scope, input));
    if (!made.ok) throw entityFailure(made, type);
    return new RawJson(made.entity.json);
  };

/** The entity and the answer kept under its `Idempotency-Key` in one transaction: a retry makes no second entity. */
async function createOnce(
  { db, entities }: CreateDeps,
  { scope, idempotency }: CallerContext,
  input: CreateInput,
): ReturnType<Entities['create']> {
  const result = await db.transaction(async (client) => {
    const made = await entities.create(scope, input, client);
    if (made.ok && !(await createIdempotencyStore(client).finish(idempotency!, 201, made.entity.json))) {
      throw conflict('Another request with this Idempotency-Key has taken over', 'idempotency_in_progress');
    }
    return made;
  });
  if (result.ok) idempotency!.answerKept = true;
  return result;
}
