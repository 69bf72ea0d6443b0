import type { Scope } from '@parley/contracts';
import { type Queryable, column, scopeColumns, scopeRow, statement } from '@parley/db';

const byToken = statement(
  'entities-by-flow-token',
  `select ${scopeColumns('e.')}, e.id, token
   from unnest($flowTokens::text[]) as token cross join lateral entities_by_flow_token(token) e`,
  { ...scopeRow, id: column.text, token: column.text },
);

/**
 * The entities of all tenants with one of these texts as `flowToken`, at most 5 of each. Any
 * tenant can write any token, so the caller must verify the result. Reads only an index, however
 * large the entities are.
 */
export async function findByToken(
  db: Queryable,
  flowTokens: readonly string[],
): Promise<{ scope: Scope; id: string; token: string }[]> {
  const { rows } = await db.acrossTenants('inbound webhook', byToken, { flowTokens });
  return rows.map(({ id, token, ...scope }) => ({ scope, id, token }));
}
