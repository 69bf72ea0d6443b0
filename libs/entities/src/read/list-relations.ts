import { type Scope, canonicalJson } from '@parley/contracts';
import { type Queryable, column, decodeCursor, encodeCursor } from '@parley/db';
import type { Access } from '../access';
import { filterSql, storedEntity } from '../filter/filter-sql';
import { type Invalid, invalid } from '../result';
import { Sql } from '../sql';

export interface RelationsInput {
  /** Id of an entity that the caller may read. */
  entityId: string;
  limit: number;
  cursor?: string;
  /**
   * The entity types that the caller may read, by slug, with the visible entities. Undefined: all.
   */
  readable?: ReadonlyMap<string, Access | undefined>;
}

/** A relation as seen from one of its entities. `outgoing`: it leads to the other one. */
export interface EntityRelation {
  relation: string;
  direction: 'outgoing' | 'incoming';
  /** The other entity. */
  entity: { type: string; id: string };
  /** Unix milliseconds. */
  createdAt: number;
}

export type RelationsResult =
  { ok: true; page: { data: EntityRelation[]; cursor: string; hasMore: boolean } } | Invalid;

const row = {
  id: column.text,
  relation: column.text,
  direction: column.oneOf<'outgoing' | 'incoming'>(),
  entityId: column.text,
  type: column.text,
  createdAt: column.float8,
};

/**
 * Returns a page of the relations of an entity with others that are not deleted, newest first
 * (docs/reference/data.md#relations).
 */
export async function listRelations(
  db: Queryable,
  scope: Scope,
  { entityId, limit, cursor = '', readable }: RelationsInput,
): Promise<RelationsResult> {
  const list = canonicalJson(['relations', scope.organizationId, scope.environment, entityId]);
  const [atMs, id] = (cursor === '' ? null : decodeCursor(list, cursor)) ?? [];
  if (cursor !== '' && !(/^\d{1,14}$/.test(atMs ?? '') && /^\w{1,80}$/.test(id ?? '')))
    return invalid('cursor', 'cursor is broken or belongs to another query');
  const sql = new Sql();
  const environment = sql.param(scope.environment, '"Environment"');
  const entity = sql.param(entityId, 'text');
  const ofEnvironment = `from entity_relations where tenant = ${sql.tenant} and environment = ${environment}`;
  const before =
    id === undefined
      ? ''
      : `and (r.created_at, r.id) < (to_timestamp(${sql.param(Number(atMs) / 1_000, 'float8')})::timestamptz(3), ${sql.param(id, 'text')})`;
  const text = `select r.id, r.relation, r.direction, e.id as "entityId", t.slug as type,
      floor(extract(epoch from r.created_at) * 1000)::float8 as "createdAt"
    from (select id, relation, to_id as other, 'outgoing' as direction, created_at ${ofEnvironment} and from_id = ${entity}
          union all
          select id, relation, from_id, 'incoming', created_at ${ofEnvironment} and to_id = ${entity} and from_id <> ${entity}) r
    join entities e on e.tenant = ${sql.tenant} and e.id = r.other and e.part > 0
    join entity_types t on t.tenant = ${sql.tenant} and t.no = e.part
    where ${readableSql(readable, sql)} ${before}
    order by r.created_at desc, r.id desc limit ${sql.param(limit + 1, 'int')}`;
  const { statement, values } = sql.build('list-relations', text, row, { isLong: true });
  const { rows } = await db.query(scope, statement, values);
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    ok: true,
    page: {
      data: shown.map(({ relation, direction, entityId, type, createdAt }) => ({
        relation,
        direction,
        createdAt,
        entity: { type, id: entityId },
      })),
      cursor: last === undefined ? cursor : encodeCursor(list, [String(last.createdAt), last.id]),
      hasMore: rows.length > limit,
    },
  };
}

function readableSql(readable: RelationsInput['readable'], sql: Sql): string {
  if (readable === undefined) return 'true';
  const types = [...readable].map(
    ([slug, access]) =>
      `t.slug = ${sql.param(slug, 'text')} and ${filterSql(access?.clauses ?? [], storedEntity('e'), sql)}`,
  );
  return `(${types.map((type) => `(${type})`).join(' or ') || 'false'})`;
}
