import type { Scope } from '@parley/contracts';
import { type Queryable, column, scopeColumns, scopeRow, statement } from '@parley/db';

const byToken = statement(
  'entities-by-flow-token',
  `select ${scopeColumns()}, id from entities where data ->> 'flowToken' = $1 limit 5`,
  { ...scopeRow, id: column.text },
);

/** The entities of all tenants with this `flowToken`. Any tenant can write any token, so the caller must verify the result. */
export async function findByToken(db: Queryable, flowToken: string): Promise<{ scope: Scope; id: string }[]> {
  const { rows } = await db.acrossTenants('inbound webhook', byToken, [flowToken]);
  return rows.map(({ id, ...scope }) => ({ scope, id }));
}
