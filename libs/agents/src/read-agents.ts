import type { Scope } from '@parley/contracts';
import type { Queryable } from '@parley/db';

/** Whether there is such an agent in the organization, or such a router in the environment: one that can answer people. */
export async function hasAnswerer(
  db: Queryable,
  { organizationId, environment }: Scope,
  { agentSlug, routerSlug }: { agentSlug?: string; routerSlug?: string },
): Promise<boolean> {
  const { rowCount } = await db.raw(
    `select 1 from agents where organization_id = $1 and slug = $3
     union all
     select 1 from routers where organization_id = $1 and environment = $2::"Environment" and slug = $4`,
    [organizationId, environment, agentSlug ?? null, routerSlug ?? null],
  );
  return rowCount !== 0;
}

/** Slug of the oldest agent that has a configuration in the environment; null when none has. */
export async function oldestAgent(db: Queryable, { organizationId, environment }: Scope): Promise<string | null> {
  const { rows } = await db.raw<{ slug: string }>(
    `select a.slug from agents a join agent_configs c on c.agent_id = a.id and c.environment = $2::"Environment"
     where a.organization_id = $1 order by a.created_at limit 1`,
    [organizationId, environment],
  );
  return rows[0]?.slug ?? null;
}
