import { z } from 'zod';
import { executeBodySchema, executeResponseSchema, validateBodySchema, validateResponseSchema } from '../executor';
import { healthSchema } from '../http/health';
import { jsonObjectSchema } from '../json';
import type { Operation } from './operation';

const handlerCode = 'return args.total * 2;';

export const executorOperations = {
  execute: {
    id: 'execute',
    tag: 'Tool executor',
    summary: "Run a tool's handler in the sandbox",
    description: 'A handler that throws is a 200 with `error`. Needs the token of the executor, not an API key.',
    method: 'post',
    path: '/execute',
    permission: null,
    security: 'executor',
    body: executeBodySchema,
    response: executeResponseSchema,
    errors: { 500: [['execution_time_exceeded', 'Execution time exceeded']] },
    example: { body: { handlerCode, args: { total: 4 } }, response: { result: 8, _meta: { durationMs: 3 } } },
  },
  validate: {
    id: 'validate',
    tag: 'Tool executor',
    summary: 'Parse a handler without running it',
    method: 'post',
    path: '/validate',
    permission: null,
    security: 'executor',
    body: validateBodySchema,
    response: validateResponseSchema,
    example: { body: { handlerCode }, response: { valid: true } },
  },
} as const satisfies Record<string, Operation>;

export const doorOperations = {
  health: {
    id: 'health',
    tag: 'Service',
    summary: 'Health check',
    method: 'get',
    path: '/health',
    permission: null,
    isOwn: true,
    response: healthSchema,
    example: { response: { status: 'ok', timestamp: 1763683200000 } },
  },
  openApi: {
    id: 'openApi',
    tag: 'Service',
    summary: 'This document',
    method: 'get',
    path: '/openapi.json',
    permission: null,
    isOwn: true,
    response: jsonObjectSchema,
  },
  docs: {
    id: 'docs',
    tag: 'Service',
    summary: 'This document as a page',
    method: 'get',
    path: '/docs',
    permission: null,
    isOwn: true,
    response: z.string(),
    responseType: 'text/html',
  },
} as const satisfies Record<string, Operation>;
