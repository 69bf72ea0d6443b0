import { randomBytes } from 'node:crypto';
import { type JsonObject, type Scope, findUnstorable } from '@parley/contracts';
import {
  type Db,
  type Queryable,
  type RowOf,
  batchCalls,
  column,
  idempotentEntitySql,
  statement,
} from '@parley/db';
import type { Origin } from '@parley/events';
import { type Access, maskedWrite } from '../access';
import { filterSql } from '../filter/filter-sql';
import { idSql } from '../field-index/position';
import { getEntity } from '../read/get-entity';
import { EntityText, entityJsonSql } from '../read/entity-json';
import {
  type Invalid,
  type MaskedField,
  type OutOfScope,
  type TooLarge,
  type TypeNotFound,
  invalid,
} from '../result';
import { validateNew } from '../schema/validate';
import { searchVector } from '../search/search-vector';
import { type Built, Sql } from '../sql';
import { isStorable, unstorableStatus } from '../storable';
import { tooLarge } from './data-size';
import { entityEventSql } from './entity-event-sql';
import { type Segments, weightOf } from './segments';
import type { CachedType, TypeCache } from './type-cache';
import { writerLockSql } from './writer-lock';

export interface NewEntity extends Origin {
  data: JsonObject;
  /** `active` by default. */
  status?: string;
}

export interface CreateManyInput {
  type: string;
  access?: Access;
  entities: readonly NewEntity[];
}

export interface CreateInput extends NewEntity {
  type: string;
  access?: Access;
  /**
   * Id of the request's idempotency record. A retry with the same record returns the entity
   * that exists already.
   */
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

/** Entities of one statement. */
const maxTogether = 64;

interface Create {
  scope: Scope;
  input: CreateInput;
}

/**
 * Returns the function that creates an entity with its event, in the transaction `tx`
 * if that is given.
 */
export function creator(db: Db, deps: WriteDeps) {
  const together = batchCalls(
    (creates: readonly Create[]) => {
      const { scope, input } = creates[0]!;
      return createMany(db, deps, scope, {
        type: input.type,
        entities: creates.map((create) => create.input),
      });
    },
    // Creates of a type that arrive while an earlier one is being stored share a statement and a
    // commit (docs/adr/0074).
    {
      keyOf: ({ scope, input }) => `${scope.tenant} ${scope.environment} ${input.type}`,
      lanes: 1,
      largest: maxTogether,
    },
  );
  return async (scope: Scope, input: CreateInput, tx?: Queryable): Promise<CreateResult> => {
    const { type, access, idempotencyId, data, status } = input;
    const isLimited =
      access !== undefined && (access.clauses.length > 0 || access.masks.length > 0);
    if (tx === undefined && idempotencyId === undefined && !isLimited)
      return together({ scope, input });
    if (idempotencyId !== undefined && unstorableIn(data, status) === null) {
      const earlier = await findCreated(tx ?? db, scope, input, idempotencyId);
      if (earlier !== null) return earlier;
    }
    return (
      await createMany(db, deps, scope, { type, access, entities: [input], idempotencyId }, tx)
    )[0]!;
  };
}

/**
 * Stores new entities of a type in this order, with their events, in one statement, which is part
 * of the transaction `tx` if that is given. Returns a result for each of them: an entity that is
 * refused does not affect the others. The statement does nothing if the type has changed since it
 * was cached; it is then built and run again.
 */
export async function createMany(
  db: Db,
  { types, segments, wakeRelay }: WriteDeps,
  scope: Scope,
  input: CreateManyInput & { idempotencyId?: string },
  tx?: Queryable,
): Promise<CreateResult[]> {
  const within = tx ?? db;
  const refused = await Promise.all(
    input.entities.map((entity) => refusalOf(within, scope, entity)),
  );
  if (!isStorable(input.type))
    return refused.map((refusal) => refusal ?? { ok: false, reason: 'type_not_found' });
  for (;;) {
    const type = await types.get(within, scope, input.type);
    if (type === null)
      return refused.map((refusal) => refusal ?? { ok: false, reason: 'type_not_found' });
    const results: (CreateResult | null)[] = input.entities.map(
      ({ data }, at) => refused[at] ?? invalidFor(type, data, input.access),
    );
    const accepted = input.entities.filter((_, at) => results[at] === null);
    if (accepted.length === 0) return results as CreateResult[];
    // Not in a transaction: the index would wait for it, because it has locked the type or holds
    // the last connection.
    if (tx === undefined) await segments.untilIndexed(type.no);
    const texts = accepted.map((entity) => givenJson(type, entity));
    const { statement, values } = createSql(scope, type, input, texts);
    const { rows } = await within.query(scope, statement, values);
    const { version, segment, waits } = rows[0]!;
    if (version !== type.version) {
      types.forget(scope, input.type);
      continue;
    }
    if (waits) within.afterCommit(wakeRelay);
    const weight = texts.reduce((sum, { length }) => sum + weightOf(length), 0);
    within.afterCommit(() => segments.added(scope, type.no, segment!, weight));
    let next = 0;
    return results.map((result) => {
      if (result !== null) return result;
      const { json } = rows[next++]!;
      return json === null
        ? { ok: false, reason: 'out_of_scope' }
        : { ok: true, entity: new EntityText(json) };
    });
  }
}

/** Why an entity cannot be stored, whatever its type. */
async function refusalOf(
  db: Queryable,
  scope: Scope,
  { data, status }: NewEntity,
): Promise<Invalid | TooLarge | null> {
  return unstorableIn(data, status) ?? (await tooLarge(db, scope, data));
}

function invalidFor(
  type: CachedType,
  data: JsonObject,
  access: Access | undefined,
): Invalid | MaskedField | null {
  const problems = validateNew(type.schema, data);
  if (problems.length > 0) return { ok: false, reason: 'invalid', problems };
  const field = maskedWrite(data, access?.masks ?? [], 'create');
  return field === null ? null : { ok: false, reason: 'masked_field', field };
}

const createdUnderKey = statement('idempotent-entity', idempotentEntitySql.find, {
  entity_id: column.text.nullable,
});

/**
 * The result of an earlier attempt with the same idempotency record. Null if it created no entity.
 */
async function findCreated(
  db: Queryable,
  scope: Scope,
  { type, access }: CreateInput,
  idempotencyId: string,
): Promise<CreateResult | null> {
  if (!isStorable(type)) return null;
  const { rows } = await db.query(scope, createdUnderKey, { idempotencyId });
  const id = rows[0]?.entity_id;
  if (!id) return null;
  const found = await getEntity(db, scope, { type, id, access });
  // The entity exists but has since been deleted or has left the caller's scope. It is
  // not created again.
  return found.ok ? found : { ok: false, reason: 'out_of_scope' };
}

export function unstorableIn(data: JsonObject, status: string | undefined): Invalid | null {
  const problem = findUnstorable(data);
  if (problem === null) return unstorableStatus(status);
  return invalid(problem.path === '' ? 'data' : `data.${problem.path}`, problem.message);
}

/**
 * A row for each entity, in the order of the call. `json` is null if the entity is outside of the
 * caller's scope. Only `version` is set if the type has changed, and it is null if the type does
 * not exist. `waits`: the events wait for the relay.
 */
const createdRow = {
  version: column.text.nullable,
  segment: column.int4.nullable,
  json: column.text.nullable,
  waits: column.bool.nullable,
};

function createSql(
  scope: Scope,
  type: CachedType,
  input: Omit<CreateManyInput, 'entities'> & { idempotencyId?: string },
  given: readonly string[],
): Built<RowOf<typeof createdRow>> {
  const sql = new Sql();
  const environment = sql.param(scope.environment, '"Environment"');
  // One JSON text for all, because the driver converts an array of texts slowly.
  const list = sql.param(`[${given.join(',')}]`, 'jsonb');
  const visible = filterSql(
    input.access?.clauses ?? [],
    { id: 'n.id', status: 'n.status', createdAt: 'n.ms', updatedAt: 'n.ms', data: 'n.data' },
    sql,
  );
  const text = `with t as (
      select no, segment, segment_floor, xmin::text as version, 'created' = any(relayed_actions) as followed from entity_types t
      where tenant = ${sql.tenant} and environment = ${environment} and slug = ${sql.param(input.type, 'text')}
        and ${writerLockSql('t.no')} for share),
    clock as materialized (
      select no, segment, greatest((extract(epoch from clock_timestamp()) * 1000)::bigint, segment_floor) as ms
      from t where version = ${sql.param(type.version, 'text')}),
    n as materialized (
      select *, ${idSql('pos', 'suffix')} as id
      from (select at, segment, ms, time_id(ms) as pos, given -> 0 as data, given ->> 1 as status,
          case given ->> 1 when 'deleted' then -no else no end as part, given ->> 2 as suffix, (given ->> 3)::tsvector as search,
          given -> 4 as actor, (given ->> 5)::int as hops, given ->> 6 as root, given ->> 7 as request_id
        from clock cross join jsonb_array_elements(${list}) with ordinality g(given, at)) g),
    e as (
      insert into entities (id, tenant, environment, part, segment, pos, status, data, search, created_at, updated_at)
      select id, ${sql.tenant}, ${environment}, part, segment, pos, status, data, search, ms, ms
      from n where ${visible} returning *),
    ${recordIdempotencySql(input.idempotencyId, sql)}event as (${entityEventSql(
      {
        event: 'entity.created',
        type: input.type,
        entity: 'e',
        source: 'from e join n using (pos)',
        payload: `jsonb_build_object('data', e.data, 'previousData', null, 'status', e.status, 'previousStatus', null)`,
        origin: { actor: 'n.actor', hops: 'n.hops', root: 'n.root', requestId: 'n.request_id' },
        waits: '(select followed from t)',
      },
      sql,
    )})
    select (select version from t) as version, (select bool_or(waits) from event) as waits, n.segment,
      ${entityJsonSql('e', input.type, input.access?.masks ?? [], sql)} as json
    from (select) one left join n on true left join e on e.pos = n.pos order by n.at`;
  return sql.build('create-entities', text, createdRow);
}

/**
 * An entity as an element of the statement's parameter: data, status, end of the id, search
 * vector, and origin.
 */
function givenJson({ no, searchFields }: CachedType, entity: NewEntity): string {
  const { data, status = 'active', actor, hops = 0, root, requestId } = entity;
  const vector = searchVector(status === 'deleted' ? -no : no, data, searchFields);
  return JSON.stringify([data, status, idSuffix(), vector, actor, hops, root, requestId]);
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
