import type { ResourceKind, Scope } from '@parley/contracts';
import { listAnswering } from '@parley/channels';
import type { Queryable } from '@parley/db';
import { countOfTypes } from '@parley/entities';
import { keysOfRoles } from '@parley/identity';

export interface Refused {
  slug: string;
  reason: string;
}

type Find = (db: Queryable, scope: Scope, slugs: string[]) => Promise<Refused[]>;

const findAnswering =
  (member: 'agentSlug' | 'routerSlug'): Find =>
  async (db, scope, slugs) => {
    const answering = new Set((await listAnswering(db, scope)).map((connection) => connection[member]));
    return slugs
      .filter((slug) => answering.has(slug))
      .map((slug) => ({ slug, reason: 'answers on a connected channel' }));
  };

/** Per kind: which of these slugs something outside of the definitions still needs. */
const finds: Partial<Record<ResourceKind, Find>> = {
  entityTypes: async (db, scope, slugs) =>
    (await countOfTypes(db, scope, slugs)).map(({ slug, count }) => ({ slug, reason: `still has ${entities(count)}` })),
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

export async function findRefused(
  db: Queryable,
  scope: Scope,
  kind: ResourceKind,
  slugs: string[],
): Promise<Refused[]> {
  return slugs.length === 0 ? [] : ((await finds[kind]?.(db, scope, slugs)) ?? []);
}
