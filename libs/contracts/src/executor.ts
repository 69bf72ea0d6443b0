import { z } from 'zod';
import { jsonObjectSchema } from './json';

/** Limits that both the executor and its callers apply. Sizes are those of the JSON text in UTF-8. */
export const executorLimits = {
  handlerCodeChars: 262_144,
  argsBytes: 1_048_576,
  resultBytes: 1_048_576,
  defaultTimeoutMs: 10_000,
  maxTimeoutMs: 60_000,
  /** Maximum nesting of handlers that call tools whose handlers call tools. */
  maxCallbackDepth: 5,
} as const;

const handlerCodeSchema = z
  .string({
    error: (issue) => (issue.input === undefined ? 'handlerCode is required' : 'handlerCode must be a string'),
  })
  .min(1, 'handlerCode is required')
  .max(executorLimits.handlerCodeChars);

/** An entry of `allowedHosts`: a host name, or `*.` followed by a domain. */
const hostPatternSchema = z
  .string()
  .max(253)
  .regex(/^(\*\.)?[^\s*/@]+$/, 'must be a host name or "*." and a domain');

/** Body of `POST /execute`. */
export const executeBodySchema = z.strictObject({
  /** Body of `async (args, context, parley, fetch) => …`, JavaScript or TypeScript. */
  handlerCode: handlerCodeSchema,
  args: jsonObjectSchema,
  /**
   * Data about the caller that the handler receives: organization, environment, actor, thread. The call uses the share of
   * processes of its `organizationId`.
   */
  context: jsonObjectSchema.optional(),
  /** Hosts that `fetch` may reach. Absent: any public host. Empty: none. */
  allowedHosts: z.array(hostPatternSchema).max(50).optional(),
  timeoutMs: z.number().int().min(1).max(executorLimits.maxTimeoutMs).default(executorLimits.defaultTimeoutMs),
  /** How `parley.<tool>(…)` calls back to the chat service. Without it those calls fail. */
  callback: z
    .strictObject({
      /** Short-lived and bound to the actor of this call. The executor keeps it outside of the sandbox. */
      token: z.string().min(1).max(4096),
      /** Must have the origin of `CHAT_URL`. Default: `/internal/tool-calls` on that origin. */
      url: z.url().optional(),
      /** Number of handlers that are waiting for this one. */
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

/** The result, or the error that the handler threw. `line` and `column` are positions in the handler's code, from 1. */
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

/** Body of `POST /validate`. */
export const validateBodySchema = z.strictObject({
  handlerCode: handlerCodeSchema,
  /** Whose share of the processes the call uses. */
  organizationId: z.string().min(1).max(128).optional(),
});
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
 * `X-Request-Id` of the execution, for each `parley.<tool>(args)` of a handler. The status is 200 if the token is valid,
 * even when the call is refused, and otherwise 401.
 */
export const toolCallbackBodySchema = z.strictObject({
  tool: z.string().min(1).max(128),
  args: jsonObjectSchema,
  /** Depth of the requested call: one more than the depth of the calling handler. */
  depth: z.number().int().min(1),
});
export type ToolCallbackBody = z.infer<typeof toolCallbackBodySchema>;

export const toolCallbackResponseSchema = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true), result: z.unknown().optional() }),
  z.object({ ok: z.literal(false), error: z.string(), errorType: z.string() }),
]);
export type ToolCallbackResponse = { ok: true; result: unknown } | { ok: false; error: string; errorType: string };
