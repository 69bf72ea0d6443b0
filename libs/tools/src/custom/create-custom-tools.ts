import type { JsonObject, Scope, ToolDefinition } from '@parley/contracts';
import { argumentFailure } from '../failure';
import { mcpNamespace } from '../mcp/mcp-names';
import type { Tool, ToolDeps, ToolSource } from '../tool';
import { checkArguments } from '../schemas/parameters';
import { loadCustomTools } from './load-custom-tools';
import { runCustomTool } from './run-custom-tool';

/** The custom tools of all environments, read from the database at each call. */
export const createCustomTools = ({ db }: ToolDeps): ToolSource => ({
  owns: (name) => !name.startsWith(mcpNamespace),
  async find(scope, name) {
    // A model may send any name. A name that no tool can have is not looked up.
    if (!/^[\w.-]{1,64}$/.test(name)) return null;
    const [stored] = await loadCustomTools(db, scope, [name]);
    return stored === undefined ? null : toTool(stored, scope);
  },
  list: async (scope, names) =>
    names.length === 0 ? [] : (await loadCustomTools(db, scope, names)).map((stored) => toTool(stored, scope)),
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
