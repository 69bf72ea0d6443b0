import type { JsonObject, Scope, ToolDefinition } from '@parley/contracts';
import { type Queryable, column, statement } from '@parley/db';
import { argumentFailure } from '../failure';
import { mcpNamespace } from '../mcp/mcp-names';
import type { Tool, ToolDeps, ToolSource } from '../tool';
import { checkArguments } from '../schemas/parameters';
import { runCustomTool } from './run-custom-tool';

/** The custom tools of all environments, read from the database at each call. */
export const createCustomTools = ({ db }: ToolDeps): ToolSource => ({
  owns: (name) => !name.startsWith(mcpNamespace),
  async find(scope, name) {
    // A model may send any name. A name that no tool can have is not looked up.
    if (!/^[\w.-]{1,64}$/.test(name)) return null;
    const [stored] = await loadTools(db, scope, [name]);
    return stored === undefined ? null : toTool(stored, scope);
  },
  list: async (scope, names) =>
    names.length === 0 ? [] : (await loadTools(db, scope, names)).map((stored) => toTool(stored, scope)),
});

function toTool(stored: ToolDefinition, { organizationId }: Scope): Tool {
  const { name, description, parameters, templateOnly } = stored;
  return {
    name,
    description,
    parameters: asObjectSchema(parameters),
    // The effects of user code are unknown, so a call must not be repeated.
    sideEffects: true,
    isBuiltin: false,
    templateOnly,
    needs: { action: 'execute' },
    async check(args) {
      const checked = await checkArguments(parameters, args, organizationId);
      if (!checked.ok) return argumentFailure(name, checked);
      return { ok: true, run: (call) => runCustomTool(stored, args, call) };
    },
  };
}

/** Model providers require `properties` and `type`. */
const asObjectSchema = (parameters: JsonObject): JsonObject => ({ properties: {}, ...parameters, type: 'object' });

const toolsByName = statement(
  'custom-tools',
  `select name, definition from tools
   where tenant = $1 and environment = $2::"Environment"
     and (name = any($3) or '*' = any($3) or exists (select from unnest($4::text[]) p where starts_with(name, p)))
   order by name`,
  { name: column.text, definition: column.jsonb<ToolDefinition>() },
);

/** Reads the custom tools with these names. `orders.*` is every tool of the namespace and `*` every tool. */
async function loadTools(db: Queryable, scope: Scope, names: readonly string[]): Promise<ToolDefinition[]> {
  const prefixes = names.filter((name) => name.endsWith('.*')).map((name) => name.slice(0, -1));
  const { rows } = await db.query(scope, toolsByName, [scope.tenant, scope.environment, names, prefixes]);
  return rows.map(({ name, definition }) => ({ ...definition, name }));
}
