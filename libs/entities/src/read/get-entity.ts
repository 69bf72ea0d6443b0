import type { Scope } from '@parley/contracts';
import { type Db, type Queryable, type RowOf, batchCalls, column, statement } from '@parley/db';
import type { Access } from '../access';
import { filterSql, storedEntity } from '../filter/filter-sql';
import type { Deleted, NotFound, OutOfScope, TypeNotFound } from '../result';
import { Sql } from '../sql';
import { isStorable } from '../storable';
import { EntityText, entityJsonFrom, entityJsonSql, typeJson } from './entity-json';

export interface GetInput {
  type: string;
  id: string;
  access?: Access;
}

export type GetResult =
  { ok: true; entity: EntityText } | TypeNotFound | NotFound | Deleted | OutOfScope;

/**
 * Returns one entity by its id (docs/reference/data.md#get). One statement reads the
 * type and the entity.
 */
export async function getEntity(
  db: Queryable,
  scope: Scope,
  { type, id, access }: GetInput,
): Promise<GetResult> {
  if (!isStorable(type)) return { ok: false, reason: 'type_not_found' };
  if (!isStorable(id)) return { ok: false, reason: 'not_found' };
  if (access !== undefined) return getAccessible(db, scope, type, id, access);
  const { rows } = await db.query(scope, plain, {
    environment: scope.environment,
    type,
    id,
    typeJson: typeJson(type),
  });
  return resultOf(rows[0]);
}

/** Reads several entities of a type; a result for each id, in their order. */
export async function getEntities(
  db: Queryable,
  scope: Scope,
  { type, ids }: { type: string; ids: readonly string[] },
): Promise<GetResult[]> {
  const { rows } = await db.query(scope, several, {
    environment: scope.environment,
    type,
    ids,
    typeJson: typeJson(type),
  });
  return ids.map((_, at) => resultOf(rows[at]));
}

/** Each may have a megabyte. */
const maxTogether = 16;

/**
 * Returns a `getEntity` that combines concurrent reads of a type: those that arrive during another
 * one wait for it, and are then one statement (docs/adr/0080). Reads in a transaction, and those
 * that roles restrict, are statements of their own.
 */
export function createGetEntity(
  db: Db,
): (scope: Scope, input: GetInput, tx?: Queryable) => Promise<GetResult> {
  const together = batchCalls(
    async (asked: readonly { scope: Scope; type: string; id: string }[]) => {
      const { scope, type, id } = asked[0]!;
      if (asked.length === 1) return [await getEntity(db, scope, { type, id })];
      return getEntities(db, scope, { type, ids: asked.map((one) => one.id) });
    },
    {
      keyOf: ({ scope: { tenant, environment }, type }) => `${tenant} ${environment} ${type}`,
      lanes: 1,
      largest: maxTogether,
      patienceMs: 100,
      failsTogether: true,
      startsAtOnce: true,
    },
  );
  return (scope, input, tx) => {
    const { type, id, access } = input;
    const isAlone =
      tx !== undefined || access !== undefined || !isStorable(type) || !isStorable(id);
    return isAlone ? getEntity(tx ?? db, scope, input) : together({ scope, type, id });
  };
}

function resultOf(row: FoundRow | undefined): GetResult {
  if (row === undefined) return { ok: false, reason: 'type_not_found' };
  if (row.part === null) return { ok: false, reason: 'not_found' };
  if (!row.visible) return { ok: false, reason: 'out_of_scope' };
  if (row.part < 0) return { ok: false, reason: 'deleted' };
  return { ok: true, entity: new EntityText(row.json!) };
}

const fromSql = (environment: string, type: string, id: string): string =>
  `from entity_types t left join entities e on e.tenant = $tenant and e.id = ${id} and e.part in (t.no, -t.no)
    where t.tenant = $tenant and t.environment = ${environment} and t.slug = ${type}`;

/** `part` and `json` are null if the type has no such entity. */
const foundRow = {
  part: column.int4.nullable,
  json: column.text.nullable,
  visible: column.bool.nullable,
};
type FoundRow = RowOf<typeof foundRow>;

/** A constant, because building the text for each of these frequent reads costs measurable time. */
const plain = statement(
  'get-entity',
  `select e.part, ${entityJsonFrom('e', '$typeJson::text')} as json, true as visible
    ${fromSql('$environment::"Environment"', '$type::text', '$id::text')}`,
  foundRow,
);

/** Without rows if there is no such type, otherwise with one for each id, in their order. */
const several = statement(
  'get-entities',
  `select e.part, ${entityJsonFrom('e', '$typeJson::text')} as json, true as visible
    from entity_types t cross join unnest($ids::text[]) with ordinality as asked(id, at)
    left join entities e on e.tenant = $tenant and e.id = asked.id and e.part in (t.no, -t.no)
    where t.tenant = $tenant and t.environment = $environment::"Environment" and t.slug = $type::text
    order by asked.at`,
  foundRow,
);

async function getAccessible(
  db: Queryable,
  scope: Scope,
  type: string,
  id: string,
  { masks, clauses }: Access,
): Promise<GetResult> {
  const sql = new Sql();
  const text = `select e.part, ${entityJsonSql('e', type, masks, sql)} as json,
      ${filterSql(clauses, storedEntity('e'), sql)} as visible
    ${fromSql(sql.param(scope.environment, '"Environment"'), sql.param(type, 'text'), sql.param(id, 'text'))}`;
  const { statement, values } = sql.build('get-accessible-entity', text, foundRow);
  const { rows } = await db.query(scope, statement, values);
  return resultOf(rows[0]);
}
