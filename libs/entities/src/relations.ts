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
  `with ends as (select id from entities where id in ($fromId, $toId) and tenant = $tenant
     and environment = $environment::"Environment" and part > 0),
    link as (insert into entity_relations (id, tenant, environment, relation, from_id, to_id)
      select $id, $tenant, $environment::"Environment", $relation, $fromId, $toId
      where exists (select from ends where id = $fromId) and exists (select from ends where id = $toId)
      on conflict do nothing)
   select count(*)::int as found from (values ($fromId), ($toId)) wanted(id) where id in (select id from ends)`,
  { found: column.int4 },
);

/** Relates two entities of one environment. A repeated call has no effect. */
export async function linkEntities(
  db: Queryable,
  scope: Scope,
  { relation, fromId, toId }: Relation,
): Promise<{ ok: true } | NotFound> {
  const values = { environment: scope.environment, relation, fromId, toId, id: newId('rel') };
  const { rows } = await db.query(scope, link, values);
  return rows[0]!.found === 2 ? { ok: true } : { ok: false, reason: 'not_found' };
}

const unlink = statement(
  'unlink-entities',
  `delete from entity_relations where tenant = $tenant and environment = $environment::"Environment"
     and relation = $relation and from_id = $fromId and to_id = $toId`,
);

/** Deletes a relation, if it exists. */
export async function unlinkEntities(
  db: Queryable,
  scope: Scope,
  { relation, fromId, toId }: Relation,
): Promise<void> {
  await db.query(scope, unlink, { environment: scope.environment, relation, fromId, toId });
}

const related = statement(
  'related-entities',
  `select distinct e.id from (
     select to_id as id, relation from entity_relations where tenant = $tenant
       and environment = $environment::"Environment" and from_id = $entityId
     union select from_id, relation from entity_relations where tenant = $tenant
       and environment = $environment::"Environment" and to_id = $entityId) r
   join entities e on e.tenant = $tenant and e.id = r.id and e.part > 0 join entity_types t on t.tenant = $tenant
     and t.no = e.part
   where ($relation::text is null or r.relation = $relation) and ($type::text is null or t.slug = $type)
   order by e.id`,
  { id: column.text },
);

/**
 * The ids of the entities that are related to this one in either direction, without deleted ones.
 */
export async function relatedIds(
  db: Queryable,
  scope: Scope,
  { entityId, relation, type }: { entityId: string; relation?: string; type?: string },
): Promise<string[]> {
  const values = {
    environment: scope.environment,
    entityId,
    relation: relation ?? null,
    type: type ?? null,
  };
  const { rows } = await db.query(scope, related, values);
  return rows.map(({ id }) => id);
}

const targets = statement(
  'relation-targets',
  `select to_id as id from entity_relations
   where tenant = $tenant and environment = $environment::"Environment" and from_id = $fromId and relation = $relation
     order by to_id`,
  { id: column.text },
);

/** The ids of the entities to which a relation leads from this one, including deleted ones. */
export async function targetIds(
  db: Queryable,
  scope: Scope,
  { fromId, relation }: { fromId: string; relation: string },
): Promise<string[]> {
  const { rows } = await db.query(scope, targets, {
    environment: scope.environment,
    fromId,
    relation,
  });
  return rows.map(({ id }) => id);
}
