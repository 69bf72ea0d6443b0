import type { IncomingHttpHeaders } from 'node:http';
import type * as McpSdk from '@modelcontextprotocol/server';
import type { CallToolResult, Server, Tool } from '@modelcontextprotocol/server';
import type { Actor, Json, Scope } from '@parley/contracts';
import type { ToolContext, ToolOffer, Tools } from '../types';

export interface McpCaller {
  actor: Actor;
  /** The tools that are served: an agent's list, or null for all of the environment. */
  allowed: readonly string[] | null;
  context: ToolContext;
  /** Called before a tool runs, with its name. */
  onStart?: (tool: string) => Promise<void>;
}

export interface McpRequest {
  body: unknown;
  headers: IncomingHttpHeaders;
  signal: AbortSignal;
}

type Sdk = typeof McpSdk;

/**
 * Answers one message of an MCP client, over Streamable HTTP without sessions
 * (docs/reference/utilities.md#mcp). Calls pass the same checks as all others. Rejects with the
 * error of a tool that failed unexpectedly.
 */
export async function answerMcp(
  tools: Tools,
  scope: Scope,
  caller: McpCaller,
  given: McpRequest,
): Promise<Response> {
  const sdk = await import('@modelcontextprotocol/server');
  // A batch would run any number of calls at the same time. Current revisions have none.
  if (Array.isArray(given.body)) return refuse(sdk.INVALID_REQUEST, 'Batches are not supported');
  let failure: { error: unknown } | undefined;
  /** Keeps an unexpected error, whose message must not reach the client. */
  const kept = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      failure ??= { error };
      throw error;
    });
  const offer = (): Promise<ToolOffer[]> => kept(tools.offer(scope, caller.allowed ?? ['*']));
  const createServer = (): Server => {
    const server = new sdk.Server(
      { name: 'parley', version: '1.0.0' },
      { capabilities: { tools: {} } },
    );
    server.setRequestHandler('tools/list', async () => ({ tools: (await offer()).map(toMcpTool) }));
    server.setRequestHandler('tools/call', async ({ params }) => {
      const offered = (await offer()).find(({ name }) => wireName(name) === params.name);
      if (offered === undefined)
        throw new sdk.ProtocolError(sdk.INVALID_PARAMS, `Unknown tool: ${params.name}`);
      const args = (params.arguments ?? {}) as Json;
      const { onStart, ...as } = caller;
      const { name } = offered;
      const call = { ...as, name, args, onStart: async () => onStart?.(name) };
      const outcome = await kept(tools.run(scope, call));
      return outcome.ok
        ? content(outcome.result)
        : { ...text(outcome.message, outcome.reason), isError: true };
    });
    return server;
  };
  const request = toWebRequest(given);
  const { body: parsedBody } = given;
  const answer = (await sdk.isLegacyRequest(request, parsedBody))
    ? await answerLegacy(sdk, createServer(), request, parsedBody)
    : await sdk
        .createMcpHandler(createServer, { legacy: 'reject', maxSubscriptions: 0 })
        .fetch(request, { parsedBody });
  if (failure !== undefined) throw failure.error;
  return answer;
}

/** Revisions before 2026-07-28. `createMcpHandler` would answer them with an event stream. */
async function answerLegacy(
  sdk: Sdk,
  server: Server,
  request: Request,
  parsedBody: unknown,
): Promise<Response> {
  const transport = new sdk.WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: undefined,
    enableJsonResponse: true,
  });
  await server.connect(transport);
  try {
    return await transport.handleRequest(request, { parsedBody });
  } finally {
    await server.close();
  }
}

/**
 * The request as the SDK reads it. Clients need not send Accept: every answer is a JSON document.
 */
function toWebRequest({ headers, signal }: McpRequest): Request {
  const list = new Headers({
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
  });
  for (const [name, value] of Object.entries(headers))
    if (name.startsWith('mcp-')) list.set(name, String(value));
  return new Request('http://parley/v1/mcp', { method: 'POST', headers: list, signal });
}

const refuse = (code: number, message: string): Response =>
  Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status: 400 });

/** Many clients pass names on to models, whose providers accept no dots. */
const wireName = (name: string): string => name.replaceAll('.', '_');

const toMcpTool = ({ name, description, parameters, sideEffects }: ToolOffer): Tool => ({
  name: wireName(name),
  title: name,
  description,
  inputSchema: { ...parameters, type: 'object' },
  annotations: { readOnlyHint: !sideEffects },
});

const text = (...values: (string | undefined)[]): CallToolResult => ({
  content: values.flatMap((value) => (value === undefined ? [] : [{ type: 'text', text: value }])),
});

function content(value: Json): CallToolResult {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return {
    ...text(typeof value === 'string' ? value : JSON.stringify(value)),
    ...(isObject && { structuredContent: value }),
  };
}
