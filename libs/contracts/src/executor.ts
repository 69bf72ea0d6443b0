import { z } from 'zod';
import { jsonObjectSchema } from './json';

/** Limits that both sides of the executor's protocol know. Sizes are of JSON text in UTF-8. */
export const executorLimits = {
  handlerCodeChars: 262_144,
  argsBytes: 1_048_576,
  resultBytes: 1_048_576,
  defaultTimeoutMs: 10_000,
  maxTimeoutMs: 60_000,
  /** A tool whose handler calls a tool whose handler … */
  maxCallbackDepth: 5,
} as const;

const handlerCodeSchema = z
  .string({
    error: (issue) => (issue.input === undefined ? 'handlerCode is required' : 'handlerCode must be a string'),
  })
  .min(1, 'handlerCode is required')
  .max(executorLimits.handlerCodeChars);

/** Names that `allowedHosts` may hold: a host, or `*.` and a domain. */
const hostPatternSchema = z
  .string()
  .max(253)
  .regex(/^(\*\.)?[^\s*/@]+$/, 'must be a host name or "*." and a domain');

/** `POST /execute`. */
export const executeBodySchema = z.strictObject({
  /** Body of `async (args, context, parley, fetch) => …`, JavaScript or TypeScript. */
  handlerCode: handlerCodeSchema,
  args: jsonObjectSchema,
  /** What the handler may know of its caller: organization, environment, actor, thread. */
  context: jsonObjectSchema.optional(),
  /** Hosts that `fetch` may reach; absent means any public host, empty means none. */
  allowedHosts: z.array(hostPatternSchema).max(50).optional(),
  timeoutMs: z.number().int().min(1).max(executorLimits.maxTimeoutMs).default(executorLimits.defaultTimeoutMs),
  /** How `parley.<tool>(…)` reaches chat; without it those calls fail. */
  callback: z
    .strictObject({
      /** Short-lived and bound to the actor of this call. It stays in the executor and never enters the sandbox. */
      token: z.string().min(1).max(4096),
      /** Where to call back; must be on the origin of `CHAT_URL`, whose `/internal/tool-calls` is the default. */
      url: z.url().optional(),
      /** How many handlers are already waiting for this one. */
      depth: z.number().int().min(0).default(0),
    })
    .optional(),
});
export type ExecuteBody = z.input<typeof executeBodySchema>;

export const logLineSchema = z.object({
  level: z.enum(['debug', 'log', 'info', 'warn', 'error']),
  message: z.string(),
});
export type LogLine = z.infer<typeof logLineSchema>;

const executionMetaSchema = z.object({ durationMs: z.number() });

/** A value, or the error that the handler threw with its place in the handler's own lines (both from 1). */
export const executeResponseSchema = z.union([
  z.strictObject({ result: z.unknown(), logs: z.array(logLineSchema).optional(), _meta: executionMetaSchema }),
  z.strictObject({
    error: z.string(),
    errorName: z.string().optional(),
    line: z.number().int().optional(),
    column: z.number().int().optional(),
    stack: z.string().optional(),
    logs: z.array(logLineSchema).optional(),
    _meta: executionMetaSchema,
  }),
]);

/** `POST /validate`. */
export const validateBodySchema = z.strictObject({ handlerCode: handlerCodeSchema });
export const validateResponseSchema = z.union([
  z.strictObject({ valid: z.literal(true) }),
  z.strictObject({
    valid: z.literal(false),
    error: z.string(),
    line: z.number().int().optional(),
    column: z.number().int().optional(),
  }),
]);

/**
 * `POST {CHAT_URL}/internal/tool-calls`, sent by the executor with `Authorization: Bearer <callback token>` and the
 * `X-Request-Id` of the execution, for each `parley.<tool>(args)` of a handler. Always 200 when the token holds: a
 * refusal is a result. 401 when it does not.
 */
export const toolCallbackBodySchema = z.strictObject({
  tool: z.string().min(1).max(128),
  args: jsonObjectSchema,
  /** Depth of the call that is asked for: one more than that of the handler that asks. */
  depth: z.number().int().min(1),
});
export type ToolCallbackBody = z.infer<typeof toolCallbackBodySchema>;

export const toolCallbackResponseSchema = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true), result: z.unknown().optional() }),
  z.object({ ok: z.literal(false), error: z.string(), errorType: z.string() }),
]);
export type ToolCallbackResponse = { ok: true; result: unknown } | { ok: false; error: string; errorType: string };
