import type { JsonObject, Scope } from '@parley/contracts';
import type { Queryable, SecretBox } from '@parley/db';
import { LRUCache } from 'lru-cache';
import { argumentFailure, notAvailable } from '../failure';
import { checkArguments } from '../schemas/parameters';
import type { Tool, ToolSource } from '../tool';
import type { ToolLog, ToolOffer, ToolResult } from '../types';
import { type McpServer, createMcpServerReader } from './load-mcp-servers';
import { mcpNamespace, mcpServersOf, readMcpName } from './mcp-names';
import { toFailure, toToolResult } from './mcp-result';
import { type McpSession, type McpSessionOptions, createMcpSession } from './mcp-session';

export type McpServers = ToolSource & { close(): void };

export interface McpDeps extends McpSessionOptions {
  db: Queryable;
  box: SecretBox;
  log: ToolLog;
}

const maxSessions = 500;
/** A session is closed after this time without use. */
const idleMs = 15 * 60_000;

/**
 * The tools of the MCP servers of all environments (docs/reference/tools.md#tools-of-mcp-servers).
 */
export function createMcpServers(deps: McpDeps): McpServers {
  const { log } = deps;
  const serversOf = createMcpServerReader(deps.db, deps.box, log);
  const sessions = new LRUCache<string, McpSession>({
    max: maxSessions,
    ttl: idleMs,
    updateAgeOnGet: true,
    dispose: (session) => session.close(),
  });

  function sessionOf(server: McpServer): McpSession {
    let session = sessions.get(server.key);
    if (session === undefined) {
      session = createMcpSession(server, deps);
      sessions.set(server.key, session);
    }
    return session;
  }

  async function listTools(server: McpServer, scope: Scope): Promise<Tool[]> {
    try {
      const session = sessionOf(server);
      return [...(await session.listTools()).values()].map((listed) =>
        toTool(session, listed, log),
      );
    } catch (error) {
      const reason = toFailure(error, server.name).message;
      log.error(
        { err: error, reason, ...scope, server: server.name },
        'an MCP server did not list its tools',
      );
      return [];
    }
  }

  return {
    owns: (name) => name.startsWith(mcpNamespace),

    /** A server that does not answer has the tools of its last list, or none. */
    async list(scope, names) {
      const { all, servers } = mcpServersOf(names);
      if (!all && servers.size === 0) return [];
      const named = (await serversOf(scope)).filter(({ name }) => all || servers.has(name));
      return (await Promise.all(named.map((server) => listTools(server, scope)))).flat();
    },

    /**
     * Accepts any name of a configured server. Whether the server has the tool is known only
     * when it is called.
     */
    async find(scope, name) {
      const read = readMcpName(name);
      const server =
        read && (await serversOf(scope)).find((configured) => configured.name === read.server);
      if (!server) return null;
      return toTool(
        sessionOf(server),
        { name, description: '', parameters: {}, sideEffects: true },
        log,
      );
    },

    close: () => sessions.clear(),
  };
}

const toTool = (session: McpSession, offer: ToolOffer, log: ToolLog): Tool => ({
  ...offer,
  isBuiltin: false,
  needs: { action: 'execute' },
  // The schema is the server's. It is read, and the arguments are checked, within the time
  // limit of the call.
  check: (args) => ({
    ok: true,
    run: ({ signal }) => callTool(session, offer.name, args, signal, log),
  }),
});

async function callTool(
  session: McpSession,
  name: string,
  args: JsonObject,
  signal: AbortSignal,
  log: ToolLog,
): Promise<ToolResult> {
  try {
    const tool = await session.findTool(name);
    if (tool === null) return notAvailable('tool_not_found', name);
    const checked = await checkArguments(tool.parameters, args, session.server.organizationId);
    if (!checked.ok) return argumentFailure(name, checked);
    return toToolResult(await session.callTool(readMcpName(name)!.tool, args, signal));
  } catch (error) {
    const { server } = session;
    if (!signal.aborted)
      log.error({ err: error, tool: name, server: server.name }, 'an MCP server failed');
    return toFailure(error, server.name);
  }
}
