import type { Scope } from '@parley/contracts';
import { type Queryable, column, scopeColumns, scopeRow, statement } from '@parley/db';

const byToken = statement(
  'entities-by-flow-token',
  `select ${scopeColumns()}, id from entities where data ->> 'flowToken' = $1 limit 5`,
  { ...scopeRow, id: column.text },
);

/** Entities of any tenant whose `flowToken` is this one. Anybody may have written it there, so they are a hint, not more. */
export async function findByToken(db: Queryable, flowToken: string): Promise<{ scope: Scope; id: string }[]> {
  const { rows } = await db.acrossTenants('inbound webhook', byToken, [flowToken]);
  return rows.map(({ id, ...scope }) => ({ scope, id }));
}
