/**
 * Tools of MCP servers are named `mcp.<server>.<tool>`. libs/resources refuses custom tools
 * with such a name.
 */
export const mcpNamespace = 'mcp.';

/** Splits a name into its server and tool; null when it is not the name of an MCP tool. */
export function readMcpName(name: string): { server: string; tool: string } | null {
  const match = /^mcp\.([a-z0-9][a-z0-9_-]{0,62})\.([\w./-]{1,128})$/.exec(name);
  return match === null ? null : { server: match[1]!, tool: match[2]! };
}

/** The servers of which a list names any tool. `all`: the list contains `mcp.*`. */
export function mcpServersOf(names: readonly string[]): { all: boolean; servers: Set<string> } {
  const servers = names.flatMap((name) => /^mcp\.([a-z0-9][a-z0-9_-]*)\../.exec(name)?.[1] ?? []);
  return { all: names.includes('mcp.*'), servers: new Set(servers) };
}
