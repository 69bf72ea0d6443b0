import type { Actor, Json, JsonObject, Scope } from '@parley/contracts';
import { z } from 'zod';
import type { ToolContext, ToolOffer, Tools } from '../types';

export interface McpCaller {
  actor: Actor;
  /** The tools that are served: an agent's list, or null for all of the environment. */
  allowed: readonly string[] | null;
  context: ToolContext;
}

/** Supported revisions of the protocol, newest first. */
export const mcpVersions = ['2025-06-18', '2025-03-26', '2024-11-05'] as const;

const requestSchema = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string(),
  params: z.record(z.string(), z.unknown()).optional(),
});

const initializeSchema = z.object({ protocolVersion: z.string() });
const callSchema = z.object({ name: z.string(), arguments: z.unknown().optional() });

/** JSON-RPC 2.0. */
const errorCodes = { invalidRequest: -32600, methodNotFound: -32601, invalidParams: -32602 } as const;

/**
 * Answers one message of an MCP client, over Streamable HTTP without sessions (docs/reference/utilities.md#mcp). Calls pass
 * the same checks as all others. Null: the message needs no answer.
 */
export async function answerMcp(
  tools: Tools,
  scope: Scope,
  caller: McpCaller,
  message: unknown,
): Promise<JsonObject | null> {
  const parsed = requestSchema.safeParse(message);
  // A message without a method would be the answer to a request, but clients are sent none.
  if (!parsed.success) return error(null, errorCodes.invalidRequest, 'Not a JSON-RPC 2.0 request');
  const { id, method, params = {} } = parsed.data;
  if (id === undefined) return null;
  switch (method) {
    case 'initialize': {
      const request = initializeSchema.safeParse(params);
      if (!request.success) return error(id, errorCodes.invalidParams, 'protocolVersion is required');
      const version = mcpVersions.find((known) => known === request.data.protocolVersion) ?? mcpVersions[0];
      return result(id, {
        protocolVersion: version,
        capabilities: { tools: {} },
        serverInfo: { name: 'parley', version: '1.0.0' },
      });
    }
    case 'ping':
      return result(id, {});
    case 'tools/list':
      return result(id, { tools: (await offerTo(tools, scope, caller)).map(toMcpTool) });
    case 'tools/call': {
      const call = callSchema.safeParse(params);
      if (!call.success) return error(id, errorCodes.invalidParams, 'name is required');
      const offered = (await offerTo(tools, scope, caller)).find(({ name }) => wireName(name) === call.data.name);
      if (offered === undefined) return error(id, errorCodes.invalidParams, `Unknown tool: ${call.data.name}`);
      const outcome = await tools.run(scope, { ...caller, name: offered.name, args: call.data.arguments ?? {} });
      return result(id, outcome.ok ? content(outcome.result) : { ...text(outcome.message), isError: true });
    }
    default:
      return error(id, errorCodes.methodNotFound, `Unknown method: ${method}`);
  }
}

const offerTo = (tools: Tools, scope: Scope, { allowed }: McpCaller): Promise<ToolOffer[]> =>
  tools.offer(scope, allowed ?? ['*']);

/** Many clients pass names on to models, whose providers accept no dots. */
const wireName = (name: string): string => name.replaceAll('.', '_');

const toMcpTool = ({ name, description, parameters, sideEffects }: ToolOffer): JsonObject => ({
  name: wireName(name),
  title: name,
  description,
  inputSchema: parameters,
  annotations: { readOnlyHint: !sideEffects },
});

const text = (value: string): JsonObject => ({ content: [{ type: 'text', text: value }] });

function content(value: Json): JsonObject {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return {
    ...text(typeof value === 'string' ? value : JSON.stringify(value)),
    ...(isObject && { structuredContent: value }),
  };
}

const result = (id: string | number, value: JsonObject): JsonObject => ({ jsonrpc: '2.0', id, result: value });

const error = (id: string | number | null, code: number, message: string): JsonObject => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
});
