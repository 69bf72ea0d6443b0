import { randomUUID } from 'node:crypto';
import { type IncomingHttpHeaders, type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

export interface TestMcpServer {
  url: string;
  /** `host:port`, for lists of allowed private hosts. */
  host: string;
  /** Calls of tools, with their arguments. */
  calls: { name: string; args: unknown }[];
  /** JSON-RPC methods received, with the headers of their requests. */
  requests: { method: string; headers: IncomingHttpHeaders }[];
  /** Behavior of the server from the next request on. */
  behavior: { status?: number; isSilent?: boolean; extraTool?: boolean };
  /** Ends every session, as a restart does. */
  forget(): void;
  stop(): Promise<void>;
}

/**
 * Starts a server of the official SDK on a local port. It has sessions, and answers with
 * events or with JSON.
 */
export async function startMcpServer({ json = false, token = '' } = {}): Promise<TestMcpServer> {
  const calls: TestMcpServer['calls'] = [];
  const requests: TestMcpServer['requests'] = [];
  const behavior: TestMcpServer['behavior'] = {};
  const sessions = new Map<string, StreamableHTTPServerTransport>();

  function describe(): McpServer {
    const mcp = new McpServer({ name: 'tickets', version: '1' });
    const ran = (name: string, args: unknown) => void calls.push({ name, args });
    const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });
    mcp.registerTool(
      'create_ticket',
      {
        description: 'Creates a ticket',
        inputSchema: { title: z.string().min(1), urgent: z.boolean().optional() },
      },
      (args) => {
        ran('create_ticket', args);
        return text(`created ${args.title}`);
      },
    );
    mcp.registerTool(
      'find',
      {
        description: 'Finds tickets',
        inputSchema: { query: z.string() },
        outputSchema: { found: z.array(z.string()) },
        annotations: { readOnlyHint: true },
      },
      (args) => {
        ran('find', args);
        const found = { found: [args.query] };
        return { ...text(JSON.stringify(found)), structuredContent: found };
      },
    );
    mcp.registerTool('break', { description: 'Fails' }, () => {
      ran('break', {});
      return { ...text('the printer is on fire'), isError: true };
    });
    mcp.registerTool('sleep', { description: 'Never ends' }, () => new Promise(() => {}));
    if (behavior.extraTool)
      mcp.registerTool('late', { description: 'Added later' }, () => text('here'));
    return mcp;
  }

  const server: Server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const message = (body === '' ? null : JSON.parse(body)) as { method: string } | null;
    if (message) requests.push({ method: message.method, headers: request.headers });
    if (behavior.isSilent) return;
    if (behavior.status !== undefined) return void response.writeHead(behavior.status).end('no');
    if (token !== '' && request.headers.authorization !== `Bearer ${token}`)
      return void response.writeHead(401).end();
    const known = sessions.get(String(request.headers['mcp-session-id']));
    if (known) return known.handleRequest(request, response, message ?? undefined);
    if (message?.method !== 'initialize')
      return void response.writeHead(404).end('no such session');
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: json,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await describe().connect(transport as Parameters<McpServer['connect']>[0]);
    await transport.handleRequest(request, response, message);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}/mcp`,
    host,
    calls,
    requests,
    behavior,
    forget: () => sessions.clear(),
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
