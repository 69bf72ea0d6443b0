import {
  type PurgeStep,
  type Queryable,
  type Tenant,
  column,
  purgeRows,
  statement,
} from '@parley/db';

const purgeSegment = statement(
  'purge-entities',
  `with parts as (
      select p, no from entity_types cross join lateral (values (no), (-no)) v(p) where tenant = $tenant),
    target as materialized (
      select e.part, e.segment, e.pos from parts cross join lateral
        (select part, segment, pos from entities
         where tenant = $tenant and part = p order by pos limit 1) e limit 1),
    selected as materialized (
      select e.id, e.part, e.segment from target t cross join lateral (select * from entities e
        where e.tenant = $tenant and e.part = t.part and e.pos >= t.pos and e.pos < coalesce(
          (select n.pos from entities n
            where n.tenant = $tenant and n.part = t.part and n.pos > t.pos and n.segment <> t.segment order by n.pos
              limit 1),
          9223372036854775807)) e),
    fields as (
      delete from entity_fields f using target t where f.tenant = $tenant and f.part = t.part
        and f.segment = t.segment),
    relations as (
      delete from entity_relations where tenant = $tenant
        and (from_id in (select id from selected) or to_id in (select id from selected))),
    shapes as (
      delete from entity_shapes where tenant = $tenant and type_no in (select no from parts)
        and not exists (select from target)),
    deleted as (delete from entities e using selected d where e.tenant = $tenant and e.id = d.id returning 1)
  select count(*)::int as count from deleted`,
  { count: column.int4 },
);

/**
 * Permanently deletes one segment (about a thousand) of a tenant's entities with their index
 * entries, shapes and relations, in one statement. Returns the number of deleted entities. Call it
 * until it returns 0, then delete the types.
 */
export async function purgeEntities(db: Queryable, tenant: Tenant): Promise<number> {
  return (await db.query(tenant, purgeSegment)).rows[0]!.count;
}

/** The steps of a purge that delete entities, their relations and their types. */
export const entitiesPurge: readonly PurgeStep[] = [
  async (tx, tenant) => ({ entities: await purgeEntities(tx, tenant) }),
  ...purgeRows(['entity_relations', 'entity_types']),
];
