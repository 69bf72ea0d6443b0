import type { CallToolResult, JsonSchemaValidator, Tool } from '@modelcontextprotocol/client';
import type { JsonObject } from '@parley/contracts';
import type { GuardedFetch } from '@parley/outbound';
import type { McpServer } from './load-mcp-servers';

/** A server did not answer. The message may be shown to a model. */
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
  /** Throws errors of the protocol and of the transport, which `toFailure` converts. */
  callTool(
    call: { name: string; args: JsonObject },
    options: { timeoutMs: number; signal: AbortSignal },
  ): Promise<CallToolResult>;
  close(): void;
}

/** Maximum size of one HTTP answer, including all its events. */
const maxResponseBytes = 4 * 1_048_576;
/** Time limit of one HTTP exchange. Calls have their own, shorter limits. */
const exchangeMs = 60_000;
const maxPages = 20;
const maxTools = 500;

/**
 * Accepts any result: the schemas come from the server, and a compiled schema is generated code.
 */
const acceptAnything = {
  getValidator:
    <T>(): JsonSchemaValidator<T> =>
    (input) => ({ valid: true, data: input as T, errorMessage: undefined }),
};

/**
 * Opens a session with a server over Streamable HTTP. All requests go through the guarded fetch.
 */
export async function connectMcp(
  server: McpServer,
  { openGuarded, timeoutMs }: { openGuarded: GuardedFetch['open']; timeoutMs: number },
): Promise<McpConnection> {
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const transport = new StreamableHTTPClientTransport(new URL(server.url), {
    fetch: (url, init) => fetchGuarded(openGuarded, String(url), init ?? {}),
    requestInit: { headers: server.headers },
  });
  const client = new Client(
    { name: 'parley', version: '1.0.0' },
    {
      capabilities: {},
      jsonSchemaValidator: acceptAnything,
      // Revision 2026-07-28 where the server has it, else `initialize`.
      versionNegotiation: { mode: 'auto', probe: { timeoutMs } },
    },
  );
  await client.connect(transport, { timeout: timeoutMs });
  return {
    async listTools({ timeoutMs: timeout, signal }) {
      const tools: Tool[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < maxPages && tools.length < maxTools; page += 1) {
        const params = cursor === undefined ? {} : { cursor };
        const answer = await client.request({ method: 'tools/list', params }, { timeout, signal });
        tools.push(...answer.tools);
        cursor = answer.nextCursor;
        if (cursor === undefined) break;
      }
      return tools.slice(0, maxTools);
    },
    async callTool({ name, args }, { timeoutMs: timeout, signal }) {
      return client.request(
        { method: 'tools/call', params: { name, arguments: args } },
        { timeout, signal },
      );
    },
    close() {
      // When this fails, the server ends the session itself after a while.
      const end = transport.terminateSession().catch(() => {});
      void end.then(() => client.close()).catch(() => {});
    },
  };
}

async function fetchGuarded(
  openGuarded: GuardedFetch['open'],
  url: string,
  init: RequestInit,
): Promise<Response> {
  const { method = 'GET', body } = init;
  const headers = new Headers(init.headers);
  // A stream for messages of the server is not used. A GET that resumes a broken answer is.
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
  if (!answer.ok)
    throw new McpUnreachable(answer.message, answer.reason === 'timeout' ? 'timeout' : 'failed');
  const hasBody = ![101, 204, 205, 304].includes(answer.status);
  return new Response(hasBody ? (ReadableStream.from(answer.body) as ReadableStream) : null, {
    status: answer.status,
    headers: answer.headers,
  });
}
