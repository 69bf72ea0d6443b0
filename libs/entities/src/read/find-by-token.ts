import type { Environment, Scope } from '@parley/contracts';
import type { Queryable } from '@parley/db';

/** Entities of any tenant whose `flowToken` is this one. Anybody may have written it there, so they are a hint, not more. */
export async function findByToken(db: Queryable, flowToken: string): Promise<{ scope: Scope; id: string }[]> {
  const { rows } = await db.raw<{ organization_id: string; environment: Environment; id: string }>({
    name: 'entities-by-flow-token',
    text: `select organization_id, environment, id from entities where data ->> 'flowToken' = $1 limit 5`,
    values: [flowToken],
  });
  return rows.map(({ organization_id: organizationId, environment, id }) => ({
    scope: { organizationId, environment },
    id,
  }));
}
