import type { ResourceKind, Scope } from '@parley/contracts';
import { listAnswering } from '@parley/channels';
import type { Queryable } from '@parley/db';
import { countEntitiesByType } from '@parley/entities';
import { keysOfRoles } from '@parley/identity';

export interface InUse {
  slug: string;
  reason: string;
}

type Find = (db: Queryable, scope: Scope, slugs: string[]) => Promise<InUse[]>;

const findAnswering =
  (member: 'agentSlug' | 'routerSlug'): Find =>
  async (db, scope, slugs) => {
    const answering = new Set(
      (await listAnswering(db, scope)).map((connection) => connection[member]),
    );
    return slugs
      .filter((slug) => answering.has(slug))
      .map((slug) => ({ slug, reason: 'answers on a connected channel' }));
  };

/** For each kind, finds the slugs that entities, API keys or connected channels still use. */
const findersByKind: Partial<Record<ResourceKind, Find>> = {
  entityTypes: async (db, scope, slugs) =>
    (await countEntitiesByType(db, scope, slugs)).map(({ slug, count }) => ({
      slug,
      reason: `still has ${entities(count)}`,
    })),
  roles: async (db, scope, slugs) =>
    (await keysOfRoles(db, scope, slugs)).map(({ role, prefix }) => ({
      slug: role,
      reason: `is the role of the API key ${prefix}`,
    })),
  agents: findAnswering('agentSlug'),
  routers: findAnswering('routerSlug'),
};

const entities = (count: number): string =>
  count === 1 ? '1 entity' : count > 1_000 ? 'more than 1,000 entities' : `${count} entities`;

/**
 * Returns the definitions of one kind that cannot be deleted because they are in use,
 * with the reason.
 */
export async function findInUse(
  db: Queryable,
  scope: Scope,
  kind: ResourceKind,
  slugs: string[],
): Promise<InUse[]> {
  return slugs.length === 0 ? [] : ((await findersByKind[kind]?.(db, scope, slugs)) ?? []);
}
