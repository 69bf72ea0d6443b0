import type { JsonObject } from '@parley/contracts';
import type { Queryable, SecretBox } from '@parley/db';
import type { GuardedFetch } from '@parley/outbound';
import type { Tool as ServedTool } from '@modelcontextprotocol/sdk/types.js';
import { LRUCache } from 'lru-cache';
import { type ParameterCheck, compileParameters } from '../custom/parameters';
import { failure, notAvailable } from '../failure';
import type { Tool, ToolSource } from '../tool';
import type { ToolLog, ToolOffer, ToolResult } from '../types';
import { type McpServer, createMcpServerReader } from './load-mcp-servers';
import { type McpConnection, McpUnreachable, connectMcp } from './mcp-connection';
import { mcpNamespace, mcpServersOf, readMcpName } from './mcp-names';
import { statusOf, toFailure, toToolResult } from './mcp-result';

export interface McpServers extends ToolSource {
  close(): void;
}

export interface McpDeps {
  db: Queryable;
  box: SecretBox;
  openGuarded: GuardedFetch['open'];
  log: ToolLog;
  /** For a server's list of tools, connecting included; 5 s unless told. */
  listLimitMs?: number;
  /** For one call; 30 s unless told. */
  callLimitMs?: number;
  /** How long a list is used before it is asked for again; 5 min unless told. */
  listAgeMs?: number;
}

interface Listed extends ToolOffer {
  check: ParameterCheck | null;
}

interface Session {
  server: McpServer;
  connection: Promise<McpConnection> | null;
  listing: Promise<ReadonlyMap<string, Listed>> | null;
  list: ReadonlyMap<string, Listed> | null;
  listedAtMs: number;
  /** A server that does not answer is not waited for by every turn. */
  failedAtMs: number;
}

const maxSessions = 500;
const idleMs = 15 * 60_000;
const pauseAfterFailureMs = 10_000;
const maxDescriptionChars = 4_000;

/** The tools of the MCP servers that environments have configured; a session and a list each, kept while they are used. */
export function createMcpServers(deps: McpDeps): McpServers {
  const { listLimitMs = 5_000, callLimitMs = 30_000, listAgeMs = 5 * 60_000, log } = deps;
  const serversOf = createMcpServerReader(deps.db, deps.box, log);
  const sessions = new LRUCache<string, Session>({
    max: maxSessions,
    ttl: idleMs,
    updateAgeOnGet: true,
    dispose: (session) => disconnect(session),
  });

  function sessionOf(server: McpServer): Session {
    let session = sessions.get(server.key);
    if (session === undefined) {
      session = { server, connection: null, listing: null, list: null, listedAtMs: -Infinity, failedAtMs: -Infinity };
      sessions.set(server.key, session);
    }
    return session;
  }

  function connectionOf(session: Session): Promise<McpConnection> {
    if (session.connection === null) {
      const opening = connectMcp(session.server, { openGuarded: deps.openGuarded, timeoutMs: listLimitMs });
      session.connection = opening;
      opening.catch(() => {
        if (session.connection === opening) session.connection = null;
      });
    }
    return session.connection;
  }

  /** What a server has forgotten (HTTP 404, and 400 of some) was not done: a new session may ask again. */
  async function inSession<T>(session: Session, ask: (connection: McpConnection) => Promise<T>): Promise<T> {
    const isKnown = session.connection !== null;
    const used = connectionOf(session);
    const connection = await used;
    try {
      return await ask(connection);
    } catch (error) {
      const status = statusOf(error);
      if (!isKnown || (status !== 404 && status !== 400)) throw error;
      // Unless another call has been told the same before, and has opened the next one.
      if (session.connection === used) {
        session.connection = null;
        // Calls that are still to be told would be cut off, and could not be asked again: it is closed when none is left.
        setTimeout(() => connection.close(), callLimitMs).unref();
      }
      return ask(await connectionOf(session));
    }
  }

  async function readList(session: Session): Promise<ReadonlyMap<string, Listed>> {
    try {
      const tools = await inSession(session, (connection) => connection.listTools({ timeoutMs: listLimitMs }));
      session.list = new Map(tools.flatMap((tool) => toListed(session.server.name, tool)));
      session.listedAtMs = performance.now();
      session.failedAtMs = -Infinity;
      return session.list;
    } catch (error) {
      session.failedAtMs = performance.now();
      throw error;
    } finally {
      session.listing = null;
    }
  }

  /** The list of a server, asked for once by all who want it. Throws when there is none. */
  async function listOf(session: Session, { newerThanMs = listAgeMs } = {}): Promise<ReadonlyMap<string, Listed>> {
    const now = performance.now();
    if (session.list !== null && now - session.listedAtMs < newerThanMs) return session.list;
    const isPaused = now - session.failedAtMs < pauseAfterFailureMs;
    if (session.list !== null && isPaused) return session.list;
    if (isPaused) throw new McpUnreachable('it did not answer a moment ago', 'failed');
    session.listing ??= readList(session);
    if (session.list === null) return session.listing;
    return session.listing.catch(() => session.list!);
  }

  async function listedTool(session: Session, name: string): Promise<Listed | null> {
    const list = await listOf(session);
    // A tool that is new there: asked for again, but not for every made-up name.
    return list.get(name) ?? (await listOf(session, { newerThanMs: pauseAfterFailureMs })).get(name) ?? null;
  }

  async function call(session: Session, name: string, args: JsonObject, signal: AbortSignal): Promise<ToolResult> {
    const { server } = session;
    try {
      const tool = await listedTool(session, name);
      if (tool === null) return notAvailable('tool_not_found', name);
      const problem = tool.check?.(args) ?? null;
      if (problem !== null) return failure('invalid_arguments', `Invalid arguments for ${name}: ${problem}`);
      const wanted = { name: readMcpName(name)!.tool, args };
      const options = { timeoutMs: callLimitMs, signal };
      return toToolResult(await inSession(session, (connection) => connection.callTool(wanted, options)));
    } catch (error) {
      const failed = toFailure(error, server.name);
      if (!signal.aborted) log.error({ err: error, tool: name, server: server.name }, 'an MCP server failed');
      return failed;
    }
  }

  const toTool = (session: Session, offer: ToolOffer): Tool => ({
    ...offer,
    isBuiltin: false,
    needs: { action: 'execute' },
    // The server has the schema, which is read within the call's time limit.
    check: (args) => ({ ok: true, run: ({ signal }) => call(session, offer.name, args, signal) }),
  });

  return {
    owns: (name) => name.startsWith(mcpNamespace),

    /** For a server that does not answer, the tools of its last list, else none. */
    async list(scope, names) {
      const { all, servers } = mcpServersOf(names);
      if (!all && servers.size === 0) return [];
      const configured = await serversOf(scope);
      const named = configured.filter(({ name }) => all || servers.has(name));
      const lists = await Promise.all(
        named.map(async (server) => {
          try {
            const session = sessionOf(server);
            return [...(await listOf(session)).values()].map((listed) => toTool(session, listed));
          } catch (error) {
            const reason = toFailure(error, server.name).message;
            log.error({ err: error, reason, ...scope, server: server.name }, 'an MCP server did not list its tools');
            return [];
          }
        }),
      );
      return lists.flat();
    },

    /** Accepts any name of a configured server. Whether the server has the tool is known only when it is called. */
    async find(scope, name) {
      const read = readMcpName(name);
      const server = read && (await serversOf(scope)).find((configured) => configured.name === read.server);
      if (!server) return null;
      return toTool(sessionOf(server), { name, description: '', parameters: {}, sideEffects: true });
    },

    close: () => sessions.clear(),
  };
}

function disconnect(session: Session): void {
  void session.connection?.then((connection) => connection.close()).catch(() => {});
  session.connection = null;
}

/** A tool as a server describes it; none when its name or its schema cannot be used. */
function toListed(
  server: string,
  { name: tool, description, inputSchema, annotations }: ServedTool,
): [string, Listed][] {
  const name = `mcp.${server}.${tool}`;
  const { $schema: _, ...schema } = inputSchema as unknown as JsonObject;
  const compiled = compileParameters(schema);
  if (readMcpName(name) === null || !compiled.ok) return [];
  const listed: Listed = {
    name,
    description: (description ?? annotations?.title ?? tool).slice(0, maxDescriptionChars),
    parameters: { properties: {}, ...schema, type: 'object' },
    sideEffects: annotations?.readOnlyHint !== true,
    check: compiled.check,
  };
  return [[name, listed]];
}
