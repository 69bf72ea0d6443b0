/** All tools of MCP servers: `mcp.<server>.<tool>`. No custom tool may be called so (libs/resources). */
export const mcpNamespace = 'mcp.';

/** Which server and which of its tools a name means; null when it is no name of such a tool. */
export function readMcpName(name: string): { server: string; tool: string } | null {
  const match = /^mcp\.([a-z0-9][a-z0-9_-]{0,62})\.([\w./-]{1,128})$/.exec(name);
  return match === null ? null : { server: match[1]!, tool: match[2]! };
}

/** The servers that a list names, alone or by one of their tools; `mcp.*` means all there are. */
export function mcpServersOf(names: readonly string[]): { all: boolean; servers: Set<string> } {
  const servers = names.flatMap((name) => /^mcp\.([a-z0-9][a-z0-9_-]*)\../.exec(name)?.[1] ?? []);
  return { all: names.includes('mcp.*'), servers: new Set(servers) };
}
