import type { Scope, ToolDefinition } from '@parley/contracts';
import { type Queryable, column, statement } from '@parley/db';

const toolsByName = statement(
  'custom-tools',
  `select name, definition from tools
   where tenant = $1 and environment = $2::"Environment"
     and (name = any($3) or '*' = any($3) or exists (select from unnest($4::text[]) p where starts_with(name, p)))
   order by name`,
  { name: column.text, definition: column.jsonb<ToolDefinition>() },
);

/** Reads the custom tools with these names. `orders.*` is every tool of the namespace and `*` every tool. */
export async function loadCustomTools(
  db: Queryable,
  scope: Scope,
  names: readonly string[],
): Promise<ToolDefinition[]> {
  const prefixes = names.filter((name) => name.endsWith('.*')).map((name) => name.slice(0, -1));
  const { rows } = await db.query(scope, toolsByName, [scope.tenant, scope.environment, names, prefixes]);
  return rows.map(({ name, definition }) => ({ ...definition, name }));
}
