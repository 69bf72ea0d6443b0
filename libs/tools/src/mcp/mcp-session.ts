import { setImmediate } from 'node:timers/promises';
import type { Tool as ServedTool } from '@modelcontextprotocol/client';
import type { JsonObject } from '@parley/contracts';
import type { GuardedFetch } from '@parley/outbound';
import { parameterProblems } from '../schemas/parameters';
import type { ToolOffer } from '../types';
import type { McpServer } from './load-mcp-servers';
import { type McpConnection, McpUnreachable, connectMcp } from './mcp-connection';
import { readMcpName } from './mcp-names';
import { statusOf } from './mcp-result';

type ToolList = ReadonlyMap<string, ToolOffer>;

export interface McpSessionOptions {
  openGuarded: GuardedFetch['open'];
  /** Time limit for reading a server's list of tools, connecting included. Default 5 s. */
  listLimitMs?: number;
  /** Time limit of one call. Default 30 s. */
  callLimitMs?: number;
  /** Time after which a list is read again. Default 5 min. */
  listAgeMs?: number;
}

export type McpSession = ReturnType<typeof createMcpSession>;

const pauseAfterFailureMs = 10_000;
const maxDescriptionChars = 4_000;

/**
 * The connection to one MCP server and its list of tools. Both are opened when they
 * are first needed.
 */
export function createMcpSession(server: McpServer, options: McpSessionOptions) {
  const {
    openGuarded,
    listLimitMs = 5_000,
    callLimitMs = 30_000,
    listAgeMs = 5 * 60_000,
  } = options;
  let connection: Promise<McpConnection> | null = null;
  let reading: Promise<ToolList> | null = null;
  let list: ToolList | null = null;
  let readAtMs = -Infinity;
  /**
   * After a failure the server is not tried again for a while, so that not every turn waits for it.
   */
  let failedAtMs = -Infinity;

  function connect(): Promise<McpConnection> {
    if (connection === null) {
      const opening = connectMcp(server, { openGuarded, timeoutMs: listLimitMs });
      connection = opening;
      opening.catch(() => {
        if (connection === opening) connection = null;
      });
    }
    return connection;
  }

  /**
   * A server that has lost the session (HTTP 404, or 400) has not executed the request: a new
   * session repeats it.
   */
  async function send<T>(request: (connection: McpConnection) => Promise<T>): Promise<T> {
    const isOpen = connection !== null;
    const used = connect();
    const current = await used;
    try {
      return await request(current);
    } catch (error) {
      if (!isOpen || ![404, 400].includes(statusOf(error) ?? 0)) throw error;
      // Another call may have noticed the loss first and have opened a new session already.
      if (connection === used) {
        connection = null;
        // Closing now would cut off other calls in a way that cannot be retried. They end within
        // their time limit.
        setTimeout(() => current.close(), callLimitMs).unref();
      }
      return request(await connect());
    }
  }

  async function readList(): Promise<ToolList> {
    try {
      const tools = await send((current) => current.listTools({ timeoutMs: listLimitMs }));
      list = await readTools(server, tools, listLimitMs);
      readAtMs = performance.now();
      failedAtMs = -Infinity;
      return list;
    } catch (error) {
      failedAtMs = performance.now();
      throw error;
    } finally {
      reading = null;
    }
  }

  /**
   * The tools by name. Concurrent callers share one request. Throws when the server has never
   * returned a list.
   */
  async function listTools(maxAgeMs = listAgeMs): Promise<ToolList> {
    const now = performance.now();
    if (list !== null && now - readAtMs < maxAgeMs) return list;
    const isPaused = now - failedAtMs < pauseAfterFailureMs;
    if (list !== null && isPaused) return list;
    if (isPaused) throw new McpUnreachable('it did not answer a moment ago', 'failed');
    reading ??= readList();
    return list === null ? reading : reading.catch(() => list!);
  }

  return {
    server,
    listTools,
    /**
     * Reads the list again for a name that may be new, but not for every name that does not exist.
     */
    findTool: async (name: string): Promise<ToolOffer | null> =>
      (await listTools()).get(name) ?? (await listTools(pauseAfterFailureMs)).get(name) ?? null,
    callTool: (name: string, args: JsonObject, signal: AbortSignal) =>
      send((current) => current.callTool({ name, args }, { timeoutMs: callLimitMs, signal })),
    close(): void {
      void connection?.then((current) => current.close()).catch(() => {});
      connection = null;
    },
  };
}

/**
 * The tools of a server's list whose names and schemas can be used. After `limitMs` the
 * rest is left out.
 */
async function readTools(
  server: McpServer,
  tools: ServedTool[],
  limitMs: number,
): Promise<ToolList> {
  const list = new Map<string, ToolOffer>();
  const startedMs = performance.now();
  for (const tool of tools) {
    // Lets other requests run: the list is the server's.
    await setImmediate();
    const listed = await toListed(server, tool);
    if (performance.now() - startedMs > limitMs) break;
    if (listed !== null) list.set(listed.name, listed);
  }
  return list;
}

/** A tool as a server describes it; null when its name or its schema cannot be used. */
async function toListed(
  { name: server, organizationId }: McpServer,
  { name: tool, description, inputSchema, annotations }: ServedTool,
): Promise<ToolOffer | null> {
  const name = `mcp.${server}.${tool}`;
  if (readMcpName(name) === null) return null;
  const { $schema: _, ...schema } = inputSchema as unknown as JsonObject;
  const problems = await parameterProblems(schema, organizationId);
  if (problems === null || problems.length > 0) return null;
  return {
    name,
    description: (description ?? annotations?.title ?? tool).slice(0, maxDescriptionChars),
    parameters: { properties: {}, ...schema, type: 'object' },
    sideEffects: annotations?.readOnlyHint !== true,
  };
}
