import type { Scope } from '@parley/contracts';
import { isListed } from '@parley/permissions';
import { builtInsByName } from './builtins/table';
import { toTool } from './custom/create-custom-tools';
import { loadCustomTools } from './custom/load-custom-tools';
import { mcpNamespace } from './mcp/mcp-names';
import { runTool } from './run-tool';
import type { Tool, ToolDeps } from './tool';
import type { ToolOffer, Tools } from './types';

/** The tools of every environment: built-ins, and the custom ones of each, looked up per call. */
export function createTools(deps: ToolDeps): Tools {
  const builtIns = new Map([...builtInsByName].filter(([, tool]) => tool.isAvailable(deps)));

  async function find(scope: Scope, name: string): Promise<Tool | null> {
    const builtIn = builtIns.get(name);
    if (builtIn !== undefined) return builtIn;
    if (name.startsWith(mcpNamespace)) return (await deps.mcp?.find(scope, name)) ?? null;
    // Names come from models, too: what no tool can be called is not looked up.
    if (!/^[\w.-]{1,64}$/.test(name)) return null;
    const [stored] = await loadCustomTools(deps.db, scope, [name]);
    return stored === undefined ? null : toTool(stored);
  }

  async function list(scope: Scope, names: readonly string[]): Promise<Tool[]> {
    const ofServers = names.filter((name) => name.startsWith(mcpNamespace));
    const mayBeCustom = names.filter((name) => !builtIns.has(name) && !name.startsWith(mcpNamespace));
    const [custom, fromServers = []] = await Promise.all([
      mayBeCustom.length === 0 ? [] : loadCustomTools(deps.db, scope, mayBeCustom),
      ofServers.length === 0 ? [] : deps.mcp?.offer(scope, ofServers),
    ]);
    return [...builtIns.values(), ...custom.map(toTool), ...fromServers];
  }

  return {
    async offer(scope, names) {
      const known = await list(scope, names);
      const offered = new Map<string, ToolOffer>();
      for (const name of names) {
        for (const { name: tool, description, parameters, sideEffects, templateOnly } of known) {
          if (templateOnly || !isListed([name], tool) || offered.has(tool)) continue;
          offered.set(tool, { name: tool, description, parameters, sideEffects });
        }
      }
      return [...offered.values()];
    },

    describe: async (scope, name) => (await list(scope, [name])).find((tool) => tool.name === name) ?? null,

    run: (scope, call) => runTool(deps, find, scope, call),
  };
}
