import type { ResourceKind, Scope } from '@parley/contracts';
import type { Queryable } from '@parley/db';

export interface Refused {
  slug: string;
  reason: string;
}

/** Per kind: which of these slugs something outside of the definitions still needs. */
const queries: Partial<Record<ResourceKind, string>> = {
  // Every row counts, deleted ones too: they can be restored, and would go with the type.
  entityTypes: `
    select t.slug, 'still has ' || case when e.count = 1 then '1 entity' when e.count > 1000 then 'more than 1,000 entities'
      else e.count || ' entities' end as reason
    from entity_types t cross join lateral
      (select count(*) from (select from entities where part in (t.no, -t.no) limit 1001) few) e
    where t.organization_id = $1 and t.environment = $2::"Environment" and t.slug = any($3) and e.count > 0`,
  roles: `
    select role as slug, 'is the role of the API key ' || min(prefix) as reason from api_keys
    where organization_id = $1 and environment = $2::"Environment" and role = any($3) and revoked_at is null
      and (expires_at is null or expires_at > now())
    group by role`,
  agents: `
    select agent_slug as slug, 'answers on a connected channel' as reason from channel_connections
    where organization_id = $1 and environment = $2::"Environment" and agent_slug = any($3) group by agent_slug`,
  routers: `
    select router_slug as slug, 'answers on a connected channel' as reason from channel_connections
    where organization_id = $1 and environment = $2::"Environment" and router_slug = any($3) group by router_slug`,
};

export async function findRefused(
  db: Queryable,
  scope: Scope,
  kind: ResourceKind,
  slugs: string[],
): Promise<Refused[]> {
  const text = queries[kind];
  if (text === undefined || slugs.length === 0) return [];
  const { rows } = await db.query<Refused>(text, [scope.organizationId, scope.environment, slugs]);
  return rows;
}

/** Holds off new entities of these types until the transaction ends, so that "has none" stays true. */
export async function lockEntityTypes(db: Queryable, scope: Scope, slugs: string[]): Promise<void> {
  if (slugs.length === 0) return;
  await db.query(
    `select 1 from entity_types where organization_id = $1 and environment = $2::"Environment" and slug = any($3)
     order by id for update`,
    [scope.organizationId, scope.environment, slugs],
  );
}
