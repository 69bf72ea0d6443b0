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
  // Room for a handler, its arguments and its context, each at its own limit.
  execute: post('/execute', null, { security: 'executor', bodyLimitBytes: 2.5 * mebibyte }),
  validate: post('/validate', null, { security: 'executor' }),
};

const callbackLimitBytes = executorLimits.argsBytes + 4_096;
const internalTable = {
  callTool: post('/internal/tool-calls', null, { security: 'callback', bodyLimitBytes: callbackLimitBytes }),
};

const gatewayTable = {
  health: get('/health', null),
  openApi: get('/openapi.json', null),
  docs: get('/docs', null),
};

const handlerCode = 'return args.total * 2;';

export const executorOperations = defineOperations('Tool executor', executorTable, {
  execute: {
    summary: "Run a tool's handler in the sandbox",
    description: 'A handler that throws is a 200 with `error`. Needs the token of the executor, not an API key.',
    body: executeBodySchema,
    response: executeResponseSchema,
    errors: { 500: [['execution_time_exceeded', 'Execution time exceeded']] },
    example: { body: { handlerCode, args: { total: 4 } }, response: { result: 8, _meta: { durationMs: 3 } } },
  },
  validate: {
    summary: 'Parse a handler without running it',
    body: validateBodySchema,
    response: validateResponseSchema,
    example: { body: { handlerCode }, response: { valid: true } },
  },
});

/** Of services among themselves: the gateway does not forward them, and the document leaves them out. */
export const internalOperations = defineOperations('Tool executor', internalTable, {
  callTool: {
    summary: 'Call a tool from the code of another',
    description: 'With the token that was made for the run; always 200 when it holds.',
    body: toolCallbackBodySchema,
    response: toolCallbackResponseSchema,
  },
});

export const gatewayOperations = defineOperations('Service', gatewayTable, {
  health: {
    summary: 'Health check',
    isOwn: true,
    response: healthSchema,
    example: { response: { status: 'ok', timestamp: 1763683200000 } },
  },
  openApi: {
    summary: 'This document',
    isOwn: true,
    response: jsonObjectSchema,
  },
  docs: {
    summary: 'This document as a page',
    isOwn: true,
    response: z.string(),
    responseType: 'text/html',
  },
});
