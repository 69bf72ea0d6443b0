import type pg from 'pg';
import type { JsonObject, Scope } from '@parley/contracts';
import { type Queryable, inTransaction } from '@parley/db';
import { maskedFieldSet } from '../access';
import type { EntityText } from '../read/entity-json';
import type { Deleted, Invalid, MaskedField, NotFound, OutOfScope, TypeNotFound } from '../result';
import { validateMerge } from '../schema/validate';
import { isStorable } from '../storable';
import { type Target, applyChange, lockEntity } from './change-entity';
import { type WriteDeps, unstorableIn } from './create-entity';
import type { Origin } from './event';
import { storedShape } from './type-cache';

export interface UpdateInput extends Target, Origin {
  /** Merged into `data`: its keys replace those of the entity, `null` sets null. */
  data?: JsonObject;
  /** A new lifecycle status. It also restores a deleted entity. */
  status?: string;
}

export type UpdateResult =
  { ok: true; entity: EntityText } | TypeNotFound | NotFound | Deleted | OutOfScope | MaskedField | Invalid;

/** Changes an entity (interface.md, PATCH). Patches of different keys at the same time all survive. */
export async function updateEntity(
  pool: pg.Pool,
  deps: WriteDeps,
  scope: Scope,
  input: UpdateInput,
  tx?: Queryable,
): Promise<UpdateResult> {
  const { type, id, data = {}, status, access } = input;
  if (!isStorable(type)) return { ok: false, reason: 'type_not_found' };
  if (!isStorable(id)) return { ok: false, reason: 'not_found' };
  const unstorable = unstorableIn(data, status);
  if (unstorable !== null) return unstorable;
  const masked = maskedFieldSet(data, access?.masks ?? [], 'merge');
  if (masked !== null) return { ok: false, reason: 'masked_field', field: masked };
  const run = async (db: Queryable): Promise<UpdateResult> => {
    const locked = await lockEntity(db, scope, input);
    if (!locked.ok) return locked;
    const { entity } = locked;
    if (entity.part < 0 && status === undefined) return { ok: false, reason: 'deleted' };
    const problems = validateMerge(entity.schema, data);
    if (problems.length > 0) return { ok: false, reason: 'invalid', problems };
    const known = await deps.types.get(db, scope, type);
    const newStatus = status ?? entity.status;
    return applyChange(db, entity, input, {
      patch: data,
      status: newStatus,
      shapeFor: (shape) => (known === null ? shape : storedShape(known, shape)),
      event: newStatus === 'deleted' && entity.part > 0 ? 'entity.deleted' : 'entity.updated',
    });
  };
  return tx === undefined ? inTransaction(pool, run) : run(tx);
}
