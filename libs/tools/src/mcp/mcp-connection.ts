import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js';
import type { JsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js';
import type { JsonObject } from '@parley/contracts';
import type { GuardedFetch } from '@parley/outbound';
import type { McpServer } from './load-mcp-servers';

/** Why a server did not answer, in words that a model may read. */
export class McpUnreachable extends Error {
  constructor(
    message: string,
    readonly reason: 'timeout' | 'failed',
  ) {
    super(message);
  }
}

export interface McpConnection {
  listTools(options: { timeoutMs: number; signal?: AbortSignal }): Promise<Tool[]>;
  /** Throws what the protocol's errors and the transport throw (toFailure knows them). */
  callTool(
    call: { name: string; args: JsonObject },
    options: { timeoutMs: number; signal: AbortSignal },
  ): Promise<CallToolResult>;
  close(): void;
}

/** Of one answer, events included. */
const maxResponseBytes = 4 * 1_048_576;
/** Of one exchange; the calls inside have shorter limits of their own. */
const exchangeMs = 60_000;
const maxPages = 20;
const maxTools = 500;

/** Schemas of results come from the server, and compiling them would run code made from them: the result is taken as it is. */
const takeAsItIs = {
  getValidator:
    <T>(): JsonSchemaValidator<T> =>
    (input) => ({ valid: true, data: input as T, errorMessage: undefined }),
};

/** Opens a session with a server over Streamable HTTP; whatever is sent goes through the guard. */
export async function connectMcp(
  server: McpServer,
  { openGuarded, timeoutMs }: { openGuarded: GuardedFetch['open']; timeoutMs: number },
): Promise<McpConnection> {
  const [{ Client: McpClient }, { StreamableHTTPClientTransport }, schemas] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'),
    import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
    import('@modelcontextprotocol/sdk/types.js'),
  ]);
  const transport = new StreamableHTTPClientTransport(new URL(server.url), {
    fetch: (url, init) => fetchGuarded(openGuarded, String(url), init ?? {}),
    requestInit: { headers: server.headers },
  });
  const client: Client = new McpClient(
    { name: 'parley', version: '1.0.0' },
    { capabilities: {}, jsonSchemaValidator: takeAsItIs },
  );
  await client.connect(transport as Parameters<Client['connect']>[0], { timeout: timeoutMs });
  return {
    async listTools({ timeoutMs: timeout, signal }) {
      const tools: Tool[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < maxPages && tools.length < maxTools; page += 1) {
        const params = cursor === undefined ? {} : { cursor };
        const request = { method: 'tools/list' as const, params };
        const answer = await client.request(request, schemas.ListToolsResultSchema, { timeout, signal });
        tools.push(...answer.tools);
        cursor = answer.nextCursor;
        if (cursor === undefined) break;
      }
      return tools.slice(0, maxTools);
    },
    async callTool({ name, args }, { timeoutMs: timeout, signal }) {
      const request = { method: 'tools/call' as const, params: { name, arguments: args } };
      return client.request(request, schemas.CallToolResultSchema, { timeout, signal });
    },
    close() {
      // The server forgets the session by itself when it does not hear of this.
      const end = transport.terminateSession().catch(() => {});
      void end.then(() => client.close()).catch(() => {});
    },
  };
}

async function fetchGuarded(openGuarded: GuardedFetch['open'], url: string, init: RequestInit): Promise<Response> {
  const { method = 'GET', body } = init;
  const headers = new Headers(init.headers);
  // A standing stream of what a server has to say unasked is not for us; one that goes on after a break is.
  if (method === 'GET' && !headers.has('last-event-id')) return new Response(null, { status: 405 });
  const answer = await openGuarded({
    url,
    method,
    headers: [...headers],
    ...(typeof body === 'string' && { body }),
    redirect: 'manual',
    timeoutMs: exchangeMs,
    maxResponseBytes,
    ...(init.signal && { signal: init.signal }),
  });
  if (!answer.ok) throw new McpUnreachable(answer.message, answer.reason === 'timeout' ? 'timeout' : 'failed');
  const hasBody = ![101, 204, 205, 304].includes(answer.status);
  return new Response(hasBody ? (ReadableStream.from(answer.body) as ReadableStream) : null, {
    status: answer.status,
    headers: answer.headers,
  });
}
