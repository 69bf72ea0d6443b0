import type { Scope } from '@parley/contracts';
import { type Queryable, column, newId, statement } from '@parley/db';
import type { NotFound } from './result';

export interface Relation {
  /** Name of the relation, such as `payment_for`. */
  relation: string;
  fromId: string;
  toId: string;
}

const link = statement(
  'link-entities',
  `with ends as (select id from entities where id in ($4, $5) and tenant = $1 and environment = $2::"Environment" and part > 0),
    link as (insert into entity_relations (id, tenant, environment, relation, from_id, to_id)
      select $6, $1, $2::"Environment", $3, $4, $5
      where exists (select from ends where id = $4) and exists (select from ends where id = $5)
      on conflict do nothing)
   select count(*)::int as found from (values ($4), ($5)) wanted(id) where id in (select id from ends)`,
  { found: column.int4 },
);

/** Relates two entities of one environment. A repeated call has no effect. */
export async function linkEntities(
  db: Queryable,
  scope: Scope,
  { relation, fromId, toId }: Relation,
): Promise<{ ok: true } | NotFound> {
  const values = [scope.tenant, scope.environment, relation, fromId, toId, newId('rel')];
  const { rows } = await db.query(scope, link, values);
  return rows[0]!.found === 2 ? { ok: true } : { ok: false, reason: 'not_found' };
}

const unlink = statement(
  'unlink-entities',
  `delete from entity_relations where tenant = $1 and environment = $2::"Environment"
     and relation = $3 and from_id = $4 and to_id = $5`,
);

/** Deletes a relation, if it exists. */
export async function unlinkEntities(
  db: Queryable,
  scope: Scope,
  { relation, fromId, toId }: Relation,
): Promise<void> {
  await db.query(scope, unlink, [scope.tenant, scope.environment, relation, fromId, toId]);
}

const related = statement(
  'related-entities',
  `select distinct e.id from (
     select to_id as id, relation from entity_relations where tenant = $1 and environment = $2::"Environment" and from_id = $3
     union select from_id, relation from entity_relations where tenant = $1 and environment = $2::"Environment" and to_id = $3) r
   join entities e on e.tenant = $1 and e.id = r.id and e.part > 0 join entity_types t on t.tenant = $1 and t.no = e.part
   where ($4::text is null or r.relation = $4) and ($5::text is null or t.slug = $5)
   order by e.id`,
  { id: column.text },
);

/** The ids of the entities that are related to this one in either direction, without deleted ones. */
export async function relatedIds(
  db: Queryable,
  scope: Scope,
  { entityId, relation, type }: { entityId: string; relation?: string; type?: string },
): Promise<string[]> {
  const values = [scope.tenant, scope.environment, entityId, relation ?? null, type ?? null];
  const { rows } = await db.query(scope, related, values);
  return rows.map(({ id }) => id);
}

const targets = statement(
  'relation-targets',
  `select to_id as id from entity_relations
   where tenant = $1 and environment = $2::"Environment" and from_id = $3 and relation = $4 order by to_id`,
  { id: column.text },
);

/** The ids of the entities to which a relation leads from this one, including deleted ones. */
export async function targetIds(
  db: Queryable,
  scope: Scope,
  { fromId, relation }: { fromId: string; relation: string },
): Promise<string[]> {
  const { rows } = await db.query(scope, targets, [
    scope.tenant,
    scope.environment,
    fromId,
    relation,
  ]);
  return rows.map(({ id }) => id);
}
