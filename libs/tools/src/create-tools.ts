import type { Scope } from '@parley/contracts';
import { isListed } from '@parley/permissions';
import type { BuiltIn } from './builtins/built-in';
import { builtInsByName } from './builtins/table';
import { viewOf } from './custom/create-custom-tools';
import { loadCustomTools } from './custom/load-custom-tools';
import { mcpNamespace } from './mcp/mcp-names';
import { type FoundTool, runTool } from './run-tool';
import type { ToolDeps } from './tool';
import type { ToolOffer, ToolView, Tools } from './types';

/** The tools of every environment: built-ins, and the custom ones of each, looked up per call. */
export function createTools(deps: ToolDeps): Tools {
  const builtIns = new Map([...builtInsByName].filter(([, tool]) => tool.isAvailable(deps)));

  async function find(scope: Scope, name: string): Promise<FoundTool | null> {
    const builtIn = builtIns.get(name);
    if (builtIn !== undefined) return builtIn;
    if (name.startsWith(mcpNamespace)) return (await deps.mcp?.find(scope, name)) ?? null;
    // Names come from models, too: what no tool can be called is not looked up.
    if (!/^[\w.-]{1,64}$/.test(name)) return null;
    return (await loadCustomTools(deps.db, scope, [name]))[0] ?? null;
  }

  return {
    async offer(scope, names) {
      const ofServers = names.filter((name) => name.startsWith(mcpNamespace));
      const mayBeCustom = names.filter((name) => !builtIns.has(name) && !name.startsWith(mcpNamespace));
      const [custom, fromServers = []] = await Promise.all([
        mayBeCustom.length === 0 ? [] : loadCustomTools(deps.db, scope, mayBeCustom),
        ofServers.length === 0 ? [] : deps.mcp?.offer(scope, ofServers),
      ]);
      const known = [...[...builtIns.values()].map(viewOfBuiltIn), ...custom.map(viewOf), ...fromServers];
      const offered = new Map<string, ToolOffer>();
      for (const name of names) {
        for (const { isBuiltin: _, templateOnly, transactional: _transactional, ...tool } of known) {
          if (!templateOnly && isListed([name], tool.name) && !offered.has(tool.name)) offered.set(tool.name, tool);
        }
      }
      return [...offered.values()];
    },

    async describe(scope, name) {
      const tool = await find(scope, name);
      if (tool === null) return null;
      if ('kind' in tool) return tool.view();
      return 'definition' in tool ? viewOf(tool) : viewOfBuiltIn(tool);
    },

    run: (scope, call) => runTool(deps, find, scope, call),
  };
}

const viewOfBuiltIn = ({ name, description, parameters, sideEffects, transactional }: BuiltIn): ToolView => ({
  name,
  description,
  parameters,
  sideEffects,
  isBuiltin: true,
  templateOnly: false,
  transactional,
});
