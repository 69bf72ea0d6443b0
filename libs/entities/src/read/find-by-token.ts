import type { Environment, Scope } from '@parley/contracts';
import { type Queryable, column, statement } from '@parley/db';

const byToken = statement(
  'entities-by-flow-token',
  `select organization_id, environment, id from entities where data ->> 'flowToken' = $1 limit 5`,
  { organization_id: column.text, environment: column.oneOf<Environment>('Environment'), id: column.text },
);

/** Entities of any tenant whose `flowToken` is this one. Anybody may have written it there, so they are a hint, not more. */
export async function findByToken(db: Queryable, flowToken: string): Promise<{ scope: Scope; id: string }[]> {
  const { rows } = await db.acrossTenants('inbound webhook', byToken, [flowToken]);
  return rows.map(({ organization_id: organizationId, environment, id }) => ({
    scope: { organizationId, environment },
    id,
  }));
}
