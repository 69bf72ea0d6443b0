import type { Actor, Json, JsonObject, Scope } from '@parley/contracts';
import { z } from 'zod';
import type { ToolContext, ToolOffer, Tools } from '../types';

export interface McpCaller {
  actor: Actor;
  /** The tools that are served: an agent's list; null for all of the environment. */
  allowed: readonly string[] | null;
  context: ToolContext;
}

/** Revisions of the protocol that are spoken, newest first. */
export const mcpVersions = ['2025-06-18', '2025-03-26', '2024-11-05'] as const;

const requestSchema = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string(),
  params: z.record(z.string(), z.unknown()).optional(),
});

const initializeSchema = z.object({ protocolVersion: z.string() });
const callSchema = z.object({ name: z.string(), arguments: z.unknown() });

/** JSON-RPC 2.0. */
const errorCodes = { invalidRequest: -32600, methodNotFound: -32601, invalidParams: -32602 } as const;

/**
 * Answers one message of an MCP client (Model Context Protocol, Streamable HTTP without sessions): the tools of an
 * environment, through the same list, permissions and checks as every other call. Null when nothing is to be answered.
 */
export async function answerMcp(
  tools: Tools,
  scope: Scope,
  caller: McpCaller,
  message: unknown,
): Promise<JsonObject | null> {
  const parsed = requestSchema.safeParse(message);
  // What has neither a method nor a request of ours to belong to: we ask clients nothing, so it answers nothing.
  if (!parsed.success) return error(null, errorCodes.invalidRequest, 'Not a JSON-RPC 2.0 request');
  const { id, method, params = {} } = parsed.data;
  if (id === undefined) return null;
  switch (method) {
    case 'initialize': {
      const asked = initializeSchema.safeParse(params);
      if (!asked.success) return error(id, errorCodes.invalidParams, 'protocolVersion is required');
      const version = mcpVersions.find((known) => known === asked.data.protocolVersion) ?? mcpVersions[0];
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
      const wanted = (await offerTo(tools, scope, caller)).find(({ name }) => wireName(name) === call.data.name);
      if (wanted === undefined) return error(id, errorCodes.invalidParams, `Unknown tool: ${call.data.name}`);
      const outcome = await tools.run(scope, { ...caller, name: wanted.name, args: call.data.arguments });
      return result(id, outcome.ok ? content(outcome.result) : { ...text(outcome.message), isError: true });
    }
    default:
      return error(id, errorCodes.methodNotFound, `Unknown method: ${method}`);
  }
}

const offerTo = (tools: Tools, scope: Scope, { allowed }: McpCaller): Promise<ToolOffer[]> =>
  tools.offer(scope, allowed ?? ['*']);

/** Many clients hand names on to models, whose providers take no dots. */
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
