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
import { defineOperations, post } from './operation';

const table = {
  compilePrompt: post('/v1/compile-prompt', 'sync'),
  runTool: post('/v1/run-tool', 'sync'),
  fireTrigger: post('/v1/fire-trigger', 'sync'),
  mcp: post('/v1/mcp', 'sync'),
};

const toolErrorFields = z.object({
  errorType: z.enum(toolErrorTypes).optional(),
  durationMs: z.number().optional(),
  logs: z.array(logLineSchema).optional(),
});

export const utilityOperations = defineOperations('Utilities', table, {
  compilePrompt: {
    summary: "Compile an agent's system prompt",
    body: compilePromptBodySchema,
    response: compilePromptResponseSchema,
    errors: {
      400: [['invalid_body', 'slug is required']],
      404: [['agent_not_found', 'Agent not found or no config for this environment']],
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
    summary: 'Run a tool as in a real conversation',
    description: 'As an agent, or as the system without `agentSlug`.',
    body: runToolBodySchema,
    response: runToolResponseSchema,
    errors: {
      400: [
        ['invalid_body', 'toolName is required'],
        ['tool_not_found', 'Tool not available: shop.nothing'],
      ],
      403: [['permission_denied', "Permission denied: cannot perform 'delete' on 'order'"]],
      404: [['not_found', 'Agent not found or no config for this environment']],
      500: [
        ['execution_error', 'The handler threw: no stock'],
        ['invalid_arguments', 'Invalid arguments for entity.get: id: expected string'],
        ['timeout', 'Execution time exceeded'],
      ],
      503: [['unavailable', 'The data store is not available now, try again later']],
    },
    errorFields: toolErrorFields,
    example: {
      body: { agentSlug: 'assistant', toolName: 'entity.query', args: { type: 'product', limit: 1 } },
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
    summary: 'Fire a trigger manually',
    description: 'Its actions run as the system, with the entity or the data as their context.',
    body: fireTriggerBodySchema,
    response: fireTriggerResponseSchema,
    errors: {
      400: [['invalid_body', 'triggerSlug is required']],
      403: [['permission_denied', "Permission denied: cannot perform 'create' on 'order'"]],
      404: [['not_found', 'Trigger not found']],
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
    summary: 'The tools of an environment for clients of the Model Context Protocol',
    description:
      'Streamable HTTP without sessions: one JSON-RPC 2.0 message a request. A notification is answered with 202 and no body. `?agent=<slug>` serves the tools of an agent, as that agent.',
    query: z.object({ agent: z.string().min(1).max(100).optional() }),
    body: z.unknown(),
    response: jsonObjectSchema,
    errors: { 404: [['not_found', 'Agent not found or no config for this environment']] },
    example: {
      body: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
      response: { jsonrpc: '2.0', id: 1, result: { tools: [] } },
    },
  },
});
