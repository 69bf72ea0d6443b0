import type { JsonObject, Scope, ToolDefinition } from '@parley/contracts';
import { type Queryable, column, statement } from '@parley/db';
import { LRUCache } from 'lru-cache';
import { type ParameterCheck, compileParameters } from '../schemas/parameters';

export interface CustomTool {
  /** Identifies the stored row at one revision. Values derived from it can be cached under this key. */
  key: string;
  definition: ToolDefinition;
}

const toolsByName = statement(
  'custom-tools',
  `select id, name, revision, definition from tools
   where tenant = $1 and environment = $2::"Environment"
     and (name = any($3) or '*' = any($3) or exists (select from unnest($4::text[]) p where starts_with(name, p)))
   order by name`,
  { id: column.text, name: column.text, revision: column.int4, definition: column.jsonb<ToolDefinition>() },
);

/** Reads the custom tools with these names. `orders.*` is every tool of the namespace and `*` every tool. */
export async function loadCustomTools(db: Queryable, scope: Scope, names: readonly string[]): Promise<CustomTool[]> {
  const prefixes = names.filter((name) => name.endsWith('.*')).map((name) => name.slice(0, -1));
  const { rows } = await db.query(scope, toolsByName, [scope.tenant, scope.environment, names, prefixes]);
  return rows.map(({ id, name, revision, definition }) => ({
    key: `${id}:${revision}`,
    definition: { ...definition, name },
  }));
}

/** Compiled checks, by row and revision. */
const checks = new LRUCache<string, ParameterCheck, JsonObject>({
  max: 500,
  memoMethod: (_key, _old, { context: parameters }) => compileParameters(parameters),
});

export const compileCheck = ({ key, definition }: CustomTool): ParameterCheck =>
  checks.memo(key, { context: definition.parameters });
