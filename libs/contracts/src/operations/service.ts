import { z } from 'zod';
import {
  executeBodySchema,
  executeResponseSchema,
  executorLimits,
  toolCallbackBodySchema,
  toolCallbackResponseSchema,
  validateBodySchema,
  validateResponseSchema,
} from '../executor';
import { healthSchema } from '../http/health';
import { jsonObjectSchema } from '../json';
import { defineOperations, get, mebibyte, post } from './operation';

const executorTable = {
  // Large enough for a handler, its arguments, its context and its secrets when each is
  // at its own limit.
  execute: post('/execute', null, { security: 'executor', bodyLimitBytes: 3 * mebibyte }),
  validate: post('/validate', null, { security: 'executor' }),
};

const callbackLimitBytes = executorLimits.argsBytes + 4_096;
const internalTable = {
  callTool: post('/internal/tool-calls', null, {
    security: 'callback',
    bodyLimitBytes: callbackLimitBytes,
  }),
};

const gatewayTable = {
  health: get('/health', null),
  openApi: get('/openapi.json', null),
  docs: get('/docs', null),
  widgetScript: get('/widget/v1.js', null),
  widgetDemo: get('/widget/demo', null),
};

const handlerCode = 'return args.total * 2;';
const shareExceeded: [string, string] = [
  'executor_share_exceeded',
  "The organization's share of the sandboxes is in use",
];

export const executorOperations = defineOperations('Tool executor', executorTable, {
  execute: {
    summary: 'Run a handler',
    description:
      'Runs the handler of a custom tool in the sandbox. If the handler throws, the response is a 200 with `error`. Requires the `EXECUTOR_TOKEN` instead of an API key.',
    body: executeBodySchema,
    response: executeResponseSchema,
    errors: { 500: [['execution_time_exceeded', 'Execution time exceeded']], 503: [shareExceeded] },
    example: {
      body: { handlerCode, args: { total: 4 } },
      response: { result: 8, _meta: { durationMs: 3 } },
    },
  },
  validate: {
    summary: 'Validate a handler',
    description:
      'Parses a handler without running it. Requires the `EXECUTOR_TOKEN` instead of an API key.',
    body: validateBodySchema,
    response: validateResponseSchema,
    errors: { 503: [shareExceeded] },
    example: { body: { handlerCode }, response: { valid: true } },
  },
});

/**
 * Endpoints between services. The gateway does not forward them and the OpenAPI document
 * leaves them out.
 */
export const internalOperations = defineOperations('Tool executor', internalTable, {
  callTool: {
    summary: 'Call a tool from a handler',
    description:
      'Requires the callback token of the execution. The status is 200 whenever the token is valid.',
    body: toolCallbackBodySchema,
    response: toolCallbackResponseSchema,
  },
});

export const gatewayOperations = defineOperations('Service', gatewayTable, {
  health: {
    summary: 'Check the health of the gateway',
    isOwn: true,
    response: healthSchema,
    example: { response: { status: 'ok', timestamp: 1763683200000 } },
  },
  openApi: { summary: 'Retrieve the OpenAPI document', isOwn: true, response: jsonObjectSchema },
  docs: {
    summary: 'Retrieve the API reference as a page',
    isOwn: true,
    response: z.string(),
    responseType: 'text/html',
  },
  widgetScript: {
    summary: 'Retrieve the chat for websites',
    description:
      'The script that defines the element `<parley-chat>`. Pages of any origin may load it.',
    isOwn: true,
    response: z.string(),
    responseType: 'text/javascript',
  },
  widgetDemo: {
    summary: 'Retrieve a page with the chat',
    description:
      'Shows the chat of a publishable key whose origins include the one of the gateway.',
    query: z.object({ key: z.string().optional().describe('The publishable key.') }),
    isOwn: true,
    response: z.string(),
    responseType: 'text/html',
  },
});
