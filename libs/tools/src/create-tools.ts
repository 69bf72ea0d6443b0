import type { Scope } from '@parley/contracts';
import { isListed } from '@parley/permissions';
import { createBuiltIns } from './builtins/create-built-ins';
import { createCustomTools } from './custom/create-custom-tools';
import { runTool } from './run-tool';
import type { Tool, ToolDeps } from './tool';
import type { ToolOffer, Tools } from './types';

/** The built-in, custom and MCP tools of all environments, behind one interface. */
export function createTools(deps: ToolDeps): Tools {
  const sources = [
    createBuiltIns(deps),
    createCustomTools(deps),
    ...(deps.mcp === undefined ? [] : [deps.mcp]),
  ];
  const ownerOf = (name: string) => sources.find((source) => source.owns(name));
  const find = async (scope: Scope, name: string) =>
    (await ownerOf(name)?.find(scope, name)) ?? null;

  async function list(scope: Scope, names: readonly string[]): Promise<Tool[]> {
    const listed = sources.map((source) =>
      source.list(
        scope,
        names.filter((name) => ownerOf(name) === source),
      ),
    );
    return (await Promise.all(listed)).flat();
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

    describe: async (scope, name) =>
      (await list(scope, [name])).find((tool) => tool.name === name) ?? null,

    run: (scope, call) => runTool(deps, find, scope, call),
  };
}
