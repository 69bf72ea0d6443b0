import { executorLimits, logLineSchema } from '@parley/contracts';
import { z } from 'zod';
import { sandboxLimits } from './limits';

/*
 * Schemas of the messages of a sandbox process. It runs untrusted code behind only one barrier,
 * so the service checks its messages like requests of a client: their shape, and the limits that
 * the runner applies.
 */

const position = z.number().int().min(0).optional();
const logs = z.array(logLineSchema).max(sandboxLimits.logLines + 1);

export const outcomeSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('result'),
    result: z.string().refine((text) => Buffer.byteLength(text) <= executorLimits.resultBytes),
    logs,
  }),
  z.object({
    kind: z.literal('error'),
    error: z.object({
      name: z.string().max(100).optional(),
      message: z.string().max(sandboxLimits.errorChars),
      line: position,
      column: position,
      stack: z.string().max(sandboxLimits.errorChars).optional(),
    }),
    logs,
  }),
  z.object({ kind: z.literal('timeout') }),
]);

export const requestSchema = z.object({
  id: z.number().int(),
  kind: z.enum(['fetch', 'tool']),
  value: z.unknown(),
});

export const compileReplySchema = z.object({
  type: z.literal('compiled'),
  mustReplace: z.boolean(),
  result: z.discriminatedUnion('ok', [
    z.object({ ok: z.literal(true), code: z.string().max(executorLimits.handlerCodeChars * 2) }),
    z.object({ ok: z.literal(false), error: z.string(), line: position, column: position }),
  ]),
});
