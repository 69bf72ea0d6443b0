import { z } from 'zod';
import { logLineSchema } from '../executor';
import {
  compilePromptBodySchema,
  compilePromptResponseSchema,
  fireTriggerBodySchema,
  fireTriggerResponseSchema,
  runToolBodySchema,
  runToolResponseSchema,
  toolErrorTypes,
} from '../http/utility';
import { jsonObjectSchema } from '../json';
import { defineOperations, post, tooManyTurns } from './operation';

/** They act with the rights of the system, as a push does. */
const people = { development: 'member', production: 'admin' } as const;
const table = {
  compilePrompt: post('/v1/compile-prompt', 'sync', { people, beyondRoles: true }),
  runTool: post('/v1/run-tool', 'sync', { people }),
  fireTrigger: post('/v1/fire-trigger', 'sync', { people, beyondRoles: true }),
  mcp: post('/v1/mcp', 'sync'),
};

const toolErrorFields = z.object({
  errorType: z.enum(toolErrorTypes).optional().describe('Kind of the failure of the tool.'),
  reason: z
    .string()
    .optional()
    .describe(
      'Of a denied call: which list, role or policy denies it, as far as the key may know.',
    ),
  durationMs: z.number().optional().describe('Duration in milliseconds.'),
  logs: z
    .array(logLineSchema)
    .optional()
    .describe('Console output of the handler of a custom tool.'),
});

export const utilityOperations = defineOperations('Utilities', table, {
  compilePrompt: {
    summary: 'Compile a prompt',
    description:
      "Returns an agent's system prompt before and after its template variables and function calls are resolved.",
    body: compilePromptBodySchema,
    response: compilePromptResponseSchema,
    errors: {
      400: [['invalid_body', 'slug is required']],
      404: [['agent_not_found', 'Agent not found or no config for this environment']],
      429: [tooManyTurns],
    },
    example: {
      body: { slug: 'assistant', channel: 'api' },
      response: {
        raw: 'You help. It is {{weekday}}.',
        compiled: 'You help. It is Friday.',
        context: { weekday: 'Friday' },
      },
    },
  },
  runTool: {
    summary: 'Run a tool',
    description:
      'Runs a tool as it would run in a conversation. Without `agentSlug`, it runs as the system.',
    body: runToolBodySchema,
    response: runToolResponseSchema,
    errors: {
      400: [
        ['invalid_body', 'toolName is required'],
        ['tool_not_found', 'Tool not available: shop.nothing'],
      ],
      403: [['permission_denied', "Permission denied: cannot perform 'delete' on 'order'"]],
      404: [['not_found', 'Agent not found or no config for this environment']],
      429: [tooManyTurns],
      500: [
        ['execution_error', 'The handler threw: no stock'],
        ['invalid_arguments', 'Invalid arguments for entity.get: id: is required'],
        ['timeout', 'Execution time exceeded'],
      ],
      503: [['unavailable', 'The data store is not available now, try again later']],
    },
    errorFields: toolErrorFields,
    example: {
      body: {
        agentSlug: 'assistant',
        toolName: 'entity.query',
        args: { type: 'product', limit: 1 },
      },
      response: {
        tool: { name: 'entity.query', isBuiltin: true },
        agent: { name: 'Assistant', slug: 'assistant' },
        environment: 'development',
        result: { data: [], hasMore: false },
        durationMs: 7,
        identity: { actorType: 'agent' },
      },
    },
  },
  fireTrigger: {
    summary: 'Fire a trigger',
    description:
      'Runs the actions of a trigger as the system and waits for them. `entityId` or `data` is the context of its templates.',
    body: fireTriggerBodySchema,
    response: fireTriggerResponseSchema,
    errors: {
      400: [['invalid_body', 'triggerSlug is required']],
      403: [['permission_denied', "Permission denied: cannot perform 'create' on 'order'"]],
      404: [['not_found', 'Trigger not found']],
      429: [tooManyTurns],
      500: [['execution_error', 'Step 1 (whatsapp.send) failed']],
    },
    errorFields: toolErrorFields,
    example: {
      body: { triggerSlug: 'order-paid', data: { total: 12 } },
      response: {
        success: true,
        triggerSlug: 'order-paid',
        result: {
          runId: 'run_01k9x0000000000000000000aa',
          steps: [{ tool: 'entity.update', status: 'success', durationMs: 5 }],
          durationMs: 6,
        },
      },
    },
  },
  mcp: {
    summary: 'Call the MCP server',
    otherResponses: { 202: { description: 'The notification was accepted.' } },
    description:
      'Offers the tools of the environment to clients of the Model Context Protocol: streamable HTTP without sessions, one JSON-RPC 2.0 message per request. A notification is answered with 202 and no body. With `?agent=<slug>`, only the tools of that agent are offered, and they run as the agent.',
    query: z.object({
      agent: z
        .string()
        .min(1)
        .max(100)
        .optional()
        .describe('Slug of the agent whose tools are offered. Default: all tools.'),
    }),
    body: z.unknown(),
    response: jsonObjectSchema,
    isJsonRpc: true,
    errors: {
      403: [['foreign_origin', 'Requests of the web page https://page.example are not accepted']],
      404: [['not_found', 'Agent not found or no config for this environment']],
      429: [tooManyTurns],
    },
    example: {
      body: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
      response: { jsonrpc: '2.0', id: 1, result: { tools: [] } },
    },
  },
});
