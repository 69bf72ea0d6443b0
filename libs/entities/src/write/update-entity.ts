import type { JsonObject, Scope } from '@parley/contracts';
import type { Db, Queryable } from '@parley/db';
import type { Origin } from '@parley/events';
import { maskedWrite } from '../access';
import { parseFilters } from '../filter/parse-filters';
import type { EntityText } from '../read/entity-json';
import type {
  ConditionFailed,
  DeleteDenied,
  Deleted,
  Invalid,
  MaskedField,
  NotFound,
  OutOfScope,
  TooLarge,
  TypeNotFound,
} from '../result';
import { validateMerge } from '../schema/validate';
import { isStorable } from '../storable';
import { type Target, applyChange, lockEntity } from './change-entity';
import { type WriteDeps, unstorableIn } from './create-entity';
import { tooLarge } from './data-size';
import { storedShape } from './type-cache';

export interface UpdateInput extends Target, Origin {
  /** Merged into the stored `data` at the top level. `null` sets a field to null. */
  data?: JsonObject;
  /** A new lifecycle status. Restores a deleted entity. */
  status?: string;
  /** False for a caller that may update entities but not delete or restore them. */
  mayDelete?: boolean;
}

export interface ConditionalUpdateInput extends UpdateInput {
  /**
   * The change is made whatever the size of the entity: for fields that the product itself writes.
   */
  anySize?: boolean;
  /**
   * Filters that the stored entity must match. They are checked under its lock, so of several
   * concurrent callers one succeeds.
   */
  onlyIf: JsonObject;
}

export type UpdateResult =
  | { ok: true; entity: EntityText }
  | TypeNotFound
  | NotFound
  | Deleted
  | DeleteDenied
  | OutOfScope
  | MaskedField
  | TooLarge
  | Invalid;

/**
 * Updates an entity (docs/reference/data.md#update). Concurrent updates of different
 * keys are all kept.
 */
export async function updateEntity(
  db: Db,
  deps: WriteDeps,
  scope: Scope,
  input: UpdateInput,
  tx?: Queryable,
): Promise<UpdateResult> {
  const result = await updateEntityIf(db, deps, scope, { ...input, onlyIf: {} }, tx);
  if (!result.ok && result.reason === 'condition_failed')
    throw new Error('An empty condition has failed');
  return result;
}

/** Updates an entity if it matches `onlyIf`. */
export async function updateEntityIf(
  db: Db,
  deps: WriteDeps,
  scope: Scope,
  input: ConditionalUpdateInput,
  tx?: Queryable,
): Promise<UpdateResult | ConditionFailed> {
  const { type, id, data = {}, status, access, mayDelete = true } = input;
  if (!isStorable(type)) return { ok: false, reason: 'type_not_found' };
  if (!isStorable(id)) return { ok: false, reason: 'not_found' };
  const unstorable = unstorableIn(data, status);
  if (unstorable !== null) return unstorable;
  const masked = maskedWrite(data, access?.masks ?? [], 'merge');
  if (masked !== null) return { ok: false, reason: 'masked_field', field: masked };
  const condition = parseFilters(input.onlyIf);
  if (!condition.ok) return { ok: false, reason: 'invalid', problems: condition.problems };
  const run = async (db: Queryable): Promise<UpdateResult | ConditionFailed> => {
    const locked = await lockEntity(db, scope, input, condition.clauses);
    if (!locked.ok) return locked;
    const { entity } = locked;
    if (!entity.holds) return { ok: false, reason: 'condition_failed' };
    if (entity.part < 0 && status === undefined) return { ok: false, reason: 'deleted' };
    if ((entity.part < 0 || status === 'deleted') && !mayDelete)
      return { ok: false, reason: 'delete_denied' };
    const problems = validateMerge(entity.schema, data);
    if (problems.length > 0) return { ok: false, reason: 'invalid', problems };
    const large = input.anySize ? null : await tooLarge(db, scope, data, entity.dataText);
    if (large !== null) return large;
    const cachedType = await deps.types.get(db, scope, type);
    const newStatus = status ?? entity.status;
    return applyChange(db, scope, entity, input, {
      patch: data,
      status: newStatus,
      shapeFor: (shape) => (cachedType === null ? shape : storedShape(cachedType, shape)),
      event: newStatus === 'deleted' && entity.part > 0 ? 'entity.deleted' : 'entity.updated',
      deps,
    });
  };
  return tx === undefined ? db.transaction(run) : run(tx);
}
