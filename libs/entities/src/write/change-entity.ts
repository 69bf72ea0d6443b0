import type { JsonObject, Scope } from '@parley/contracts';
import { type Queryable, column, statement } from '@parley/db';
import type { Origin } from '@parley/events';
import type { Access } from '../access';
import type { Clause } from '../filter/condition';
import { filterSql, storedEntity } from '../filter/filter-sql';
import { encodeValue } from '../field-index/encode-value';
import { shapeField, updatedAtField } from '../field-index/field-hash';
import { type IndexRows, type Shape, indexRows, otherShape } from '../field-index/index-rows';
import { EntityText, entityJsonSql } from '../read/entity-json';
import type { NotFound, OutOfScope, TypeNotFound } from '../result';
import { type TypeSchema, readTypeSchema } from '../schema/type-schema';
import { searchVector } from '../search/search-vector';
import { Sql } from '../sql';
import { isStorable } from '../storable';
import type { WriteDeps } from './create-entity';
import { type EntityEvent, entityEventSql, originSql } from './entity-event-sql';
import { keptInEvent } from './kept-in-event';
import { weightOf } from './segments';
import { writerLockSql } from './writer-lock';

/** An entity as a transaction has locked it. */
export interface LockedEntity {
  /** Whether the locked entity matches `onlyIf`. */
  holds: boolean;
  typeNo: number;
  /** The segment of new entities of the type. */
  newestSegment: number;
  schema: TypeSchema;
  searchFields: string[];
  relayedActions: string[];
  /** The keys of `data` that triggers name. Null: all. */
  eventKeys: string[] | null;
  part: number;
  status: string;
  dataText: string;
  updatedAt: number;
  /** Whether the entity has index entries. The newest ones do not have them yet. */
  isIndexed: boolean;
  /** The database's time at which the entity was locked, in Unix milliseconds. */
  lockedAt: string;
}

export interface Target {
  type: string;
  id: string;
  access?: Access;
}

/**
 * No row if the type does not exist. The columns of the entity are null if the type has no
 * entity with this id.
 */
const lockedRow = {
  no: column.int4,
  newest: column.int4,
  schema: column.jsonb<JsonObject>(),
  search_fields: column.textArray,
  relayed_actions: column.textArray,
  event_keys: column.textArray.nullable,
  part: column.int4.nullable,
  status: column.text.nullable,
  data: column.text.nullable,
  updated_at: column.text.nullable,
  locked_at: column.text,
  indexed: column.bool.nullable,
  visible: column.bool.nullable,
  holds: column.bool.nullable,
};

/**
 * Locks an entity against other changes until the transaction ends. Finds deleted entities as well.
 */
export async function lockEntity(
  db: Queryable,
  scope: Scope,
  { type, id, access }: Target,
  onlyIf: readonly Clause[] = [],
): Promise<{ ok: true; entity: LockedEntity } | TypeNotFound | NotFound | OutOfScope> {
  const sql = new Sql();
  const text = `with t as (
      select no, schema, search_fields, relayed_actions, event_keys, segment, indexed_to from entity_types t
      where tenant = ${sql.tenant} and environment = ${sql.param(scope.environment, '"Environment"')}
        and slug = ${sql.param(type, 'text')} and ${writerLockSql('t.no')} for share),
    e as (
      select e.*, ${filterSql(access?.clauses ?? [], storedEntity('e'), sql)} as visible,
        ${filterSql(onlyIf, storedEntity('e'), sql)} as holds from t join entities e on true
      where e.tenant = ${sql.tenant} and e.id = ${sql.param(id, 'text')} and e.part in (t.no, -t.no) for update of e)
    select t.no, t.segment as newest, t.schema, t.search_fields, t.relayed_actions, t.event_keys, e.part, e.status, e.data::text as data, e.updated_at::text,
      (extract(epoch from clock_timestamp()) * 1000)::bigint::text as locked_at, e.pos < t.indexed_to as indexed, e.visible, e.holds
    from t left join e on true`;
  const { statement, values } = sql.build('lock-entity', text, lockedRow);
  const { rows } = await db.query(scope, statement, values);
  const [row] = rows;
  if (row === undefined) return { ok: false, reason: 'type_not_found' };
  if (row.part === null) return { ok: false, reason: 'not_found' };
  if (!row.visible) return { ok: false, reason: 'out_of_scope' };
  return {
    ok: true,
    entity: {
      holds: row.holds!,
      typeNo: row.no,
      newestSegment: row.newest,
      schema: readTypeSchema(row.schema),
      searchFields: row.search_fields,
      relayedActions: row.relayed_actions,
      eventKeys: row.event_keys,
      part: row.part,
      status: row.status!,
      dataText: row.data!,
      updatedAt: Number(row.updated_at),
      isIndexed: row.indexed!,
      lockedAt: row.locked_at,
    },
  };
}

/**
 * Locks entities of a type in the order of their ids, so that transactions that change several
 * entities wait for each other instead of failing. Entities that do not exist are ignored.
 */
export async function lockEntities(
  tx: Queryable,
  scope: Scope,
  { type, ids }: { type: string; ids: readonly string[] },
): Promise<void> {
  const storable = [...new Set(ids)].filter(isStorable);
  if (storable.length > 0 && isStorable(type)) {
    await tx.query(scope, lockInOrder, { environment: scope.environment, type, storable });
  }
}

const lockInOrder = statement(
  'lock-entities',
  `with t as (
     select no from entity_types t where tenant = $tenant and environment = $environment::"Environment" and slug = $type
       and ${writerLockSql('t.no')} for share)
   select from t join entities e on e.part in (t.no, -t.no)
   where e.tenant = $tenant and e.id = any($storable::text[]) order by e.id for update of e`,
);

export interface Change {
  patch: JsonObject;
  status: string;
  /** Returns the shape under which the changed entity is stored: see `storedShape`. */
  shapeFor: (shape: Shape) => Shape;
  event: EntityEvent;
  deps: Pick<WriteDeps, 'segments' | 'wakeRelay'>;
}

const changedRow = { json: column.text, waits: column.bool };

/**
 * Changes a locked entity, updates its index entries if it has them, and writes its event, in one
 * statement. Does nothing if the result would be outside of the caller's scope.
 */
export async function applyChange(
  db: Queryable,
  scope: Scope,
  locked: LockedEntity,
  target: Target & Origin,
  change: Change,
): Promise<{ ok: true; entity: EntityText } | OutOfScope> {
  const sql = new Sql();
  const { type, id, access } = target;
  const previous = JSON.parse(locked.dataText) as JsonObject;
  const data: JsonObject = { ...previous, ...change.patch };
  const part = change.status === 'deleted' ? -locked.typeNo : locked.typeNo;
  const patchText = JSON.stringify(change.patch);
  const kept = keptInEvent(locked, patchText, previous, data);
  const patch = sql.param(patchText, 'jsonb');
  const status = sql.param(change.status, 'text');
  const newPart = sql.param(part, 'int');
  const now = sql.param(locked.lockedAt, 'bigint');
  const result = { ...storedEntity('e'), status, updatedAt: now, data: `(e.data || ${patch})` };
  const index = locked.isIndexed
    ? reindexSql(
        locked,
        part,
        indexRows(previous, locked.status),
        indexRows(data, change.status),
        change,
        sql,
      )
    : '';
  const text = `with u as (
      update entities e set data = e.data || ${patch}, status = ${status}, part = ${newPart},
        updated_at = greatest(${now}, e.updated_at + 1),
        search = ${sql.param(searchVector(part, data, locked.searchFields), 'tsvector')}
      where e.tenant = ${sql.tenant} and e.id = ${sql.param(id, 'text')}
        and ${filterSql(access?.clauses ?? [], result, sql)} returning e.*),
    ${index}event as (${entityEventSql(
      {
        event: change.event,
        type,
        entity: 'u',
        source: 'from u',
        origin: originSql(target, sql),
        payload: `jsonb_build_object('data', ${kept ? sql.param(kept.data, 'jsonb') : 'u.data'},
        'previousData', ${sql.param(kept?.previousData ?? locked.dataText, 'jsonb')},
        'status', u.status, 'previousStatus', ${sql.param(locked.status, 'text')}${kept ? `, 'isPartial', true` : ''})`,
        // These actions are still valid: the row of the type has been locked since it was read.
        waits: sql.param(
          locked.relayedActions.includes(change.event.slice('entity.'.length)),
          'bool',
        ),
      },
      sql,
    )})
    select ${entityJsonSql('u', type, access?.masks ?? [], sql)} as json, (select waits from event) as waits from u`;
  const { statement, values } = sql.build('change-entity', text, changedRow);
  const { rows } = await db.query(scope, statement, values);
  const [row] = rows;
  if (row === undefined) return { ok: false, reason: 'out_of_scope' };
  const { wakeRelay, segments } = change.deps;
  if (row.waits) db.afterCommit(wakeRelay);
  // Scans read the newest entities whole, so one that has grown may fill its segment.
  const growth = weightOf(patchText.length) - 1;
  if (!locked.isIndexed && growth > 0)
    db.afterCommit(() => segments.added(scope, locked.typeNo, locked.newestSegment, growth));
  return { ok: true, entity: new EntityText(row.json) };
}

/** CTEs that replace the index entries of the entity `u`, and store its shape if that is new. */
function reindexSql(
  { part: oldPart, typeNo, updatedAt }: LockedEntity,
  part: number,
  before: IndexRows,
  after: IndexRows,
  { shapeFor }: Change,
  sql: Sql,
): string {
  const { removed, added, shape } = diffIndexRows(before, after, {
    samePart: part === oldPart,
    updatedAt,
    shapeFor,
  });
  const newShape =
    shape === null
      ? ''
      : `shape as (insert into entity_shapes (tenant, type_no, shape, fields) select ${sql.tenant}, ${sql.param(typeNo, 'int')},
      ${sql.param(shape.key, 'bytea')}, ${sql.ints(shape.fields ?? [])} from u on conflict do nothing),
    `;
  return `removed as (
      delete from entity_fields f using u, unnest(${sql.ints(removed.fields)}, ${sql.byteas(removed.values)}) x(field, value)
      where f.tenant = ${sql.tenant} and f.part = ${sql.param(oldPart, 'int')} and f.segment = u.segment
        and f.field = x.field and f.value = x.value and f.pos = u.pos),
    added as (
      insert into entity_fields (tenant, part, segment, field, value, pos)
      select ${sql.tenant}, u.part, u.segment, x.field, x.value, u.pos from u cross join lateral (
        select * from unnest(${sql.ints(added.fields)}, ${sql.byteas(added.values)}) as x(field, value)
        union all select ${updatedAtField}, entity_index_key(to_jsonb(u.updated_at))) x),
    ${newShape}`;
}

interface IndexEntries {
  fields: number[];
  values: Buffer[];
}

/**
 * The index entries that a change removes and adds, and the entity's new shape, or null if
 * it stays the same.
 */
function diffIndexRows(
  before: IndexRows,
  after: IndexRows,
  {
    samePart,
    updatedAt,
    shapeFor,
  }: { samePart: boolean; updatedAt: number; shapeFor: (shape: Shape) => Shape },
): { removed: IndexEntries; added: IndexEntries; shape: Shape | null } {
  const afterKeys = new Set(samePart ? keysOf(after) : []);
  const unchanged = new Set(keysOf(before).filter((key) => afterKeys.has(key)));
  const removed = without(before, unchanged);
  const added = without(after, unchanged);
  removed.fields.push(updatedAtField);
  removed.values.push(encodeValue(updatedAt));
  if (samePart && before.shape.key.equals(after.shape.key)) return { removed, added, shape: null };
  // The entity has one of these two shapes, depending on the number of shapes that the type had
  // when it was written.
  removed.fields.push(shapeField, shapeField);
  removed.values.push(before.shape.key, otherShape.key);
  const shape = shapeFor(after.shape);
  added.fields.push(shapeField);
  added.values.push(shape.key);
  return { removed, added, shape };
}

const keysOf = ({ fields, values }: IndexEntries): string[] =>
  fields.map((field, index) => `${field} ${values[index]!.toString('latin1')}`);

function without(rows: IndexEntries, unchanged: Set<string>): IndexEntries {
  const kept: IndexEntries = { fields: [], values: [] };
  keysOf(rows).forEach((key, index) => {
    if (unchanged.has(key)) return;
    kept.fields.push(rows.fields[index]!);
    kept.values.push(rows.values[index]!);
  });
  return kept;
}
