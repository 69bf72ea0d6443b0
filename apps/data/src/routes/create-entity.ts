import { operations } from '@parley/contracts';
import { createIdempotencyStore, inTransaction } from '@parley/db';
import type { CreateInput, CreateResult } from '@parley/entities';
import { type KeyedContext, RawJson, conflict, route } from '@parley/service';
import type { DataDeps } from '../app';
import { originOf, requireAccess } from '../caller';
import { entityFailure } from '../entity-failure';

/** `POST /v1/data/:type` */
export const createEntityRoute = (deps: DataDeps) =>
  route(operations.createEntity, async ({ params: { type }, body }, context) => {
    const { access } = await requireAccess(deps, context, 'create', type);
    const input = { type, ...body, access, ...originOf(context) };
    const made = await (context.idempotency
      ? createOnce(deps, context, input)
      : deps.entities.create(context.scope, input));
    if (!made.ok) throw entityFailure(made, type);
    return new RawJson(made.entity.json);
  });

/** The entity and the answer kept under its `Idempotency-Key` in one transaction: a retry makes no second entity. */
async function createOnce(
  { db, entities }: DataDeps,
  { scope, idempotency }: KeyedContext,
  input: CreateInput,
): Promise<CreateResult> {
  const result = await inTransaction(db.pool, async (client) => {
    const made = await entities.create(scope, input, client);
    if (made.ok && !(await createIdempotencyStore(client).finish(idempotency!, 201, made.entity.json))) {
      throw conflict('Another request with this Idempotency-Key has taken over', 'idempotency_in_progress');
    }
    return made;
  });
  if (result.ok) idempotency!.answerKept = true;
  return result;
}
