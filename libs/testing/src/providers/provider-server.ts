import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ProviderRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  /** Parsed JSON, or null. */
  body: Record<string, unknown> | null;
  bytes: Buffer;
}

/**
 * A response, whose body is sent as JSON unless it is a buffer, or `drop`: the connection is closed
 * without a response.
 */
export type ProviderAnswer =
  { status: number; body?: unknown; headers?: Record<string, string> } | 'drop';

export interface ProviderServer {
  url: string;
  stop(): Promise<void>;
}

/** Starts a local HTTP server that is a stand-in for a provider. */
export async function startProviderServer(
  answer: (request: ProviderRequest) => ProviderAnswer | Promise<ProviderAnswer>,
): Promise<ProviderServer> {
  const server = createServer((request, response) => void handle(request, response));
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    const url = new URL(request.url ?? '/', 'http://provider');
    const given = await answer({
      method: request.method ?? 'GET',
      path: decodeURIComponent(url.pathname),
      query: url.searchParams,
      headers: request.headers,
      body: parse(bytes.toString('utf8')),
      bytes,
    });
    if (given === 'drop') return void request.socket.destroy();
    const { body = '' } = given;
    const sent = Buffer.isBuffer(body) || body === '' ? body : JSON.stringify(body);
    response
      .writeHead(given.status, { 'Content-Type': 'application/json', ...given.headers })
      .end(sent);
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function parse(text: string): Record<string, unknown> | null {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return null;
  }
}
