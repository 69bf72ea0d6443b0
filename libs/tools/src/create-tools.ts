import type { Scope } from '@parley/contracts';
import type { BuiltIn } from './builtins/built-in';
import { builtInsByName } from './builtins/table';
import { type CustomTool, loadCustomTools, viewOf } from './custom/load-custom-tools';
import { matchesName } from './permissions/policy';
import { runTool } from './run-tool';
import type { ToolDeps, ToolOffer, ToolView, Tools } from './types';

/** The tools of every environment: built-ins, and the custom ones of each, looked up per call. */
export function createTools(deps: ToolDeps): Tools {
  const builtIns = new Map([...builtInsByName].filter(([, tool]) => tool.isAvailable(deps)));

  async function find(scope: Scope, name: string): Promise<BuiltIn | CustomTool | null> {
    const builtIn = builtIns.get(name);
    if (builtIn !== undefined) return builtIn;
    // Names come from models, too: what no tool can be called is not looked up.
    if (!/^[\w.-]{1,64}$/.test(name)) return null;
    return (await loadCustomTools(deps.db.pool, scope, [name]))[0] ?? null;
  }

  return {
    async offer(scope, names) {
      const mayBeCustom = names.filter((name) => !builtIns.has(name));
      const custom = mayBeCustom.length === 0 ? [] : await loadCustomTools(deps.db.pool, scope, mayBeCustom);
      const known = [...[...builtIns.values()].map(viewOfBuiltIn), ...custom.map(viewOf)];
      const offered = new Map<string, ToolOffer>();
      for (const name of names) {
        for (const { isBuiltin: _, templateOnly, ...tool } of known) {
          if (!templateOnly && matchesName(name, tool.name) && !offered.has(tool.name)) offered.set(tool.name, tool);
        }
      }
      return [...offered.values()];
    },

    async describe(scope, name) {
      const tool = await find(scope, name);
      if (tool === null) return null;
      return 'definition' in tool ? viewOf(tool) : viewOfBuiltIn(tool);
    },

    run: (scope, call) => runTool(deps, find, scope, call),
  };
}

const viewOfBuiltIn = ({ name, description, parameters, sideEffects }: BuiltIn): ToolView => ({
  name,
  description,
  parameters,
  sideEffects,
  isBuiltin: true,
  templateOnly: false,
});
