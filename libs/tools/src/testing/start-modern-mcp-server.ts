import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer, createMcpHandler } from '@modelcontextprotocol/server';
import { z } from 'zod';

/**
 * Starts a server of revision 2026-07-28 that refuses `initialize`. `methods`: the methods
 * that it received.
 */
export async function startModernMcpServer() {
  const methods: string[] = [];
  const describe = () => {
    const mcp = new McpServer({ name: 'modern', version: '1' });
    mcp.registerTool(
      'add',
      { description: 'Adds', inputSchema: z.object({ a: z.number() }) },
      ({ a }) => ({
        content: [{ type: 'text', text: `sum ${a + 1}` }],
      }),
    );
    return mcp;
  };
  const handler = createMcpHandler(describe, { legacy: 'reject' });
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    methods.push((JSON.parse(body) as { method: string }).method);
    const headers = new Headers(request.headers as Record<string, string>);
    const answer = await handler.fetch(
      new Request('http://modern/mcp', { method: request.method, headers, body }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}/mcp`,
    host,
    methods,
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(resolve);
      }),
  };
}
