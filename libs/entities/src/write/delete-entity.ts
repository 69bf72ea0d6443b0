import type { Scope } from '@parley/contracts';
import type { Db, Queryable } from '@parley/db';
import type { Origin } from '@parley/events';
import type { NotFound, OutOfScope, TypeNotFound } from '../result';
import { isStorable } from '../storable';
import { type Target, applyChange, lockEntity } from './change-entity';
import type { WriteDeps } from './create-entity';
import { storedShape } from './type-cache';

export type DeleteInput = Target & Origin;
export type DeleteResult = { ok: true } | TypeNotFound | NotFound | OutOfScope;

/** Marks an entity as deleted (docs/reference/data.md#delete). A repeated call has no effect. */
export async function deleteEntity(
  db: Db,
  deps: WriteDeps,
  scope: Scope,
  input: DeleteInput,
  tx?: Queryable,
): Promise<DeleteResult> {
  if (!isStorable(input.type)) return { ok: false, reason: 'type_not_found' };
  if (!isStorable(input.id)) return { ok: false, reason: 'not_found' };
  const run = async (db: Queryable): Promise<DeleteResult> => {
    const locked = await lockEntity(db, scope, input);
    if (!locked.ok) return locked;
    if (locked.entity.part < 0) return { ok: true };
    const cachedType = await deps.types.get(db, scope, input.type);
    // The scope was checked above. Without this, a scope rule on `status` could refuse
    // the changed entity.
    const target = { ...input, access: undefined };
    await applyChange(db, scope, locked.entity, target, {
      patch: {},
      status: 'deleted',
      shapeFor: (shape) => (cachedType === null ? shape : storedShape(cachedType, shape)),
      event: 'entity.deleted',
      deps,
    });
    return { ok: true };
  };
  return tx === undefined ? db.transaction(run) : run(tx);
}
