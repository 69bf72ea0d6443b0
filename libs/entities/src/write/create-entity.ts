import { randomBytes } from 'node:crypto';
import { type JsonObject, type Scope, findUnstorable } from '@parley/contracts';
import { type Db, type Queryable, type RowOf, column, idempotentEntitySql, statement } from '@parley/db';
import type { Origin } from '@parley/events';
import { type Access, maskedWrite } from '../access';
import { filterSql } from '../filter/filter-sql';
import { updatedAtField, shapeField } from '../field-index/field-hash';
import { type IndexRows, indexRows } from '../field-index/index-rows';
import { idSql } from '../field-index/position';
import { getEntity } from '../read/get-entity';
import { EntityText, entityJsonSql } from '../read/entity-json';
import { type Invalid, type MaskedField, type OutOfScope, type TooLarge, type TypeNotFound, invalid } from '../result';
import { validateNew } from '../schema/validate';
import { searchVector } from '../search/search-vector';
import { type Built, Sql } from '../sql';
import { isStorable, unstorableStatus } from '../storable';
import { tooLarge } from './data-size';
import { entityEventSql } from './entity-event-sql';
import { type Segments, writerLockSql } from './segments';
import { type CachedType, type TypeCache, isKnownShape, storedShape } from './type-cache';

export interface CreateInput extends Origin {
  type: string;
  data: JsonObject;
  /** `active` by default. */
  status?: string;
  access?: Access;
  /** Id of the request's idempotency record. A retry with the same record returns the entity that exists already. */
  idempotencyId?: string;
}

export type CreateResult =
  { ok: true; entity: EntityText } | TypeNotFound | OutOfScope | MaskedField | TooLarge | Invalid;

export interface WriteDeps {
  types: TypeCache;
  segments: Segments;
  /** Wakes the relays. */
  wakeRelay: () => void;
}

/**
 * Stores a new entity with its index entries and its event in one statement, which is part of the transaction `tx` if that
 * is given. The statement does nothing if the type has changed since it was cached; it is then built and run again.
 */
export async function createEntity(
  db: Db,
  { types, segments, wakeRelay }: WriteDeps,
  scope: Scope,
  input: CreateInput,
  tx?: Queryable,
): Promise<CreateResult> {
  const within = tx ?? db;
  const { data, status = 'active', access } = input;
  const unstorable = unstorableIn(data, status);
  if (unstorable !== null) return unstorable;
  if (!isStorable(input.type)) return { ok: false, reason: 'type_not_found' };
  const earlier =
    input.idempotencyId === undefined ? null : await findCreated(within, scope, input, input.idempotencyId);
  if (earlier !== null) return earlier;
  const large = await tooLarge(within, scope, data);
  if (large !== null) return large;
  const rows = indexRows(data, status);
  for (;;) {
    const type = await types.get(within, scope, input.type);
    if (type === null) return { ok: false, reason: 'type_not_found' };
    const problems = validateNew(type.schema, data);
    if (problems.length > 0) return { ok: false, reason: 'invalid', problems };
    const masked = maskedWrite(data, access?.masks ?? [], 'create');
    if (masked !== null) return { ok: false, reason: 'masked_field', field: masked };
    const shape = storedShape(type, rows.shape);
    const { statement, values } = createSql(scope, type, { ...input, status }, { ...rows, shape });
    const { version, segment, json, waits } = (await within.query(scope, statement, values)).rows[0]!;
    if (version !== type.version) {
      types.forget(scope, input.type);
      continue;
    }
    if (json === null) return { ok: false, reason: 'out_of_scope' };
    // Not in the transaction, whose rollback would lose the shape.
    if (tx === undefined) type.shapes.add(shape.key.toString('hex'));
    if (waits) within.afterCommit(wakeRelay);
    within.afterCommit(() => segments.created(scope, type.no, segment!));
    return { ok: true, entity: new EntityText(json) };
  }
}

const createdUnderKey = statement('idempotent-entity', idempotentEntitySql.find, { entity_id: column.text.nullable });

/** The result of an earlier attempt with the same idempotency record. Null if it created no entity. */
async function findCreated(
  db: Queryable,
  scope: Scope,
  { type, access }: CreateInput,
  idempotencyId: string,
): Promise<CreateResult | null> {
  const { rows } = await db.query(scope, createdUnderKey, [scope.tenant, idempotencyId]);
  const id = rows[0]?.entity_id;
  if (!id) return null;
  const found = await getEntity(db, scope, { type, id, access });
  // The entity exists but has since been deleted or has left the caller's scope. It is not created again.
  return found.ok ? found : { ok: false, reason: 'out_of_scope' };
}

export function unstorableIn(data: JsonObject, status: string | undefined): Invalid | null {
  const problem = findUnstorable(data);
  if (problem === null) return unstorableStatus(status);
  return invalid(problem.path === '' ? 'data' : `data.${problem.path}`, problem.message);
}

/** All null if the type does not exist. Only `version` is set if nothing was stored. `waits`: the event waits for the relay. */
const createdRow = {
  version: column.text.nullable,
  segment: column.int4.nullable,
  json: column.text.nullable,
  waits: column.bool.nullable,
};

function createSql(
  scope: Scope,
  type: CachedType,
  input: CreateInput & { status: string },
  rows: IndexRows,
): Built<RowOf<typeof createdRow>> {
  const sql = new Sql(scope);
  const environment = sql.param(scope.environment, '"Environment"');
  const status = sql.param(input.status, 'text');
  const data = sql.param(JSON.stringify(input.data), 'jsonb');
  const part = input.status === 'deleted' ? -type.no : type.no;
  const vector = sql.param(searchVector(part, input.data, type.searchFields), 'tsvector');
  const visible = filterSql(
    input.access?.clauses ?? [],
    { id: 'n.id', status, createdAt: 'n.ms', updatedAt: 'n.ms', data },
    sql,
  );
  const shape = isKnownShape(type, rows.shape) ? null : rows.shape;
  const newShape =
    shape === null
      ? ''
      : `, shape as (insert into entity_shapes (tenant, type_no, shape, fields)
           select ${sql.tenant}, t.no, ${sql.param(shape.key, 'bytea')}, ${sql.ints(shape.fields ?? [])} from t
           on conflict do nothing)`;
  const text = `with t as (
      select no, segment, segment_floor, xmin::text as version, 'created' = any(relayed_actions) as followed from entity_types t
      where tenant = ${sql.tenant} and environment = ${environment} and slug = ${sql.param(input.type, 'text')}
        and ${writerLockSql('t.no')} for share),
    clock as materialized (
      select segment, greatest((extract(epoch from clock_timestamp()) * 1000)::bigint, segment_floor) as ms
      from t where version = ${sql.param(type.version, 'text')}),
    n as materialized (
      select segment, pos, ms, ${idSql('pos', sql.param(idSuffix(), 'text'))} as id, ${sql.param(part, 'int')} as part
      from (select segment, ms, time_id(ms) as pos from clock) c),
    e as (
      insert into entities (id, tenant, environment, part, segment, pos, status, data, search, created_at, updated_at)
      select id, ${sql.tenant}, ${environment}, part, segment, pos, ${status}, ${data}, ${vector}, ms, ms
      from n where ${visible} returning *),
    f as (
      insert into entity_fields (tenant, part, segment, field, value, pos)
      select ${sql.tenant}, e.part, e.segment, x.field, x.value, e.pos from e cross join lateral (
        select * from unnest(${sql.ints([...rows.fields, shapeField])},
          ${sql.byteas([...rows.values, rows.shape.key])}) as x(field, value)
        union all select ${updatedAtField}, entity_index_key(to_jsonb(e.updated_at))) x),
    ${recordIdempotencySql(input.idempotencyId, sql)}event as (${entityEventSql('entity.created', input, {
      from: 'e',
      payload: `jsonb_build_object('data', e.data, 'previousData', null, 'status', e.status, 'previousStatus', null)`,
      waits: '(select followed from t)',
      sql,
    })})${newShape}
    select (select version from t) as version, (select waits from event) as waits, e.segment, ${entityJsonSql('e', input.type, input.access?.masks ?? [], sql)} as json
    from (select) one left join e on true`;
  return sql.build('create-entity', text, createdRow);
}

/** CTE that stores the id of the entity in the request's idempotency record. */
const recordIdempotencySql = (idempotencyId: string | undefined, sql: Sql): string =>
  idempotencyId === undefined
    ? ''
    : `mark as (${idempotentEntitySql.note('e', sql.tenant, sql.param(idempotencyId, 'text'))}),
    `;

const suffixLength = 10;

const idSuffix = (): string =>
  randomBytes(suffixLength)
    .toString('base64url')
    .replace(/[^a-zA-Z0-9]/g, 'x')
    .toLowerCase()
    .slice(0, suffixLength);
