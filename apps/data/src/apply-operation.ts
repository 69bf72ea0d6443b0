import type { EntityOperation } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import type { CreateInput, Entities } from '@parley/entities';
import { type CallerContext, type HttpError, forbidden } from '@parley/service';
import { entityFailure } from './entity-failure';
import { type CallerAccess, originOf } from './require-access';

export interface OperationDeps {
  entities: Pick<Entities, 'create' | 'update' | 'remove'>;
}

/**
 * Creates entities of `type` in one statement. Returns the id of each, or the error of one
 * that is refused.
 */
export async function createAll(
  { entities }: { entities: Pick<Entities, 'createMany'> },
  context: CallerContext,
  input: {
    type: string;
    entities: readonly Pick<CreateInput, 'data' | 'status'>[];
    access: CallerAccess;
    tx: Queryable;
  },
): Promise<({ id: string } | HttpError)[]> {
  const { type, access, tx } = input;
  const origin = originOf(context);
  const created = await entities.createMany(
    context.scope,
    {
      type,
      access: access.access,
      entities: input.entities.map((entity) => ({ ...entity, ...origin })),
    },
    tx,
  );
  return created.map((result) => (result.ok ? result.entity : entityFailure(result, type)));
}

/**
 * Creates, updates or deletes an entity of `type` for a caller with this access. Returns its id,
 * and its JSON text unless it was deleted. Throws an HttpError if the operation fails; it has then
 * changed nothing.
 */
export async function applyOperation(
  { entities }: OperationDeps,
  context: CallerContext,
  {
    type,
    operation,
    access: { access, denial },
    tx,
  }: {
    type: string;
    operation: EntityOperation;
    access: CallerAccess;
    tx?: Queryable;
  },
): Promise<{ id: string; json: string }> {
  const { scope } = context;
  const common = { type, access, ...originOf(context) };
  switch (operation.action) {
    case 'create': {
      const { data, status } = operation;
      const created = await entities.create(scope, { data, status, ...common }, tx);
      if (!created.ok) throw entityFailure(created, type);
      return created.entity;
    }
    case 'update': {
      const { id, data, status } = operation;
      // Setting a status can delete and restore an entity, so that requires the permission
      // to delete as well.
      const deleteDenial = denial('delete');
      const updated = await entities.update(
        scope,
        { id, data, status, mayDelete: deleteDenial === null, ...common },
        tx,
      );
      if (updated.ok) return updated.entity;
      if (updated.reason === 'delete_denied') throw forbidden(deleteDenial!, 'permission_denied');
      throw entityFailure(updated, type);
    }
    case 'delete': {
      const { id } = operation;
      const deleted = await entities.remove(scope, { id, ...common }, tx);
      if (!deleted.ok) throw entityFailure(deleted, type);
      return { id, json: '{"success":true}' };
    }
  }
}
