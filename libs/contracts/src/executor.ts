import { z } from 'zod';
import { jsonObjectSchema } from './json';

/**
 * Limits that both the executor and its callers apply. Sizes are those of the JSON text in UTF-8.
 */
export const executorLimits = {
  handlerCodeChars: 262_144,
  argsBytes: 1_048_576,
  resultBytes: 1_048_576,
  defaultTimeoutMs: 10_000,
  maxTimeoutMs: 60_000,
  /** Maximum nesting of handlers that call tools whose handlers call tools. */
  maxCallbackDepth: 5,
  /** Secrets of a tool. */
  secrets: 20,
  /** UTF-8. */
  secretBytes: 8_192,
} as const;

/** The names of the global object of the sandbox. */
export const sandboxGlobals =
  `AbortController AbortSignal AggregateError Array ArrayBuffer BigInt BigInt64Array BigUint64Array Boolean
  DOMException DataView Date Error EvalError Event EventTarget FinalizationRegistry Float16Array Float32Array Float64Array Function
  Headers Infinity Int16Array Int32Array Int8Array InternalError Iterator JSON Map Math NaN Number Object Promise Proxy RangeError
  ReferenceError Reflect RegExp Request Response Set String Symbol SyntaxError TextDecoder TextEncoder TypeError URIError URL
  URLSearchParams Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakRef WeakSet atob btoa clearInterval clearTimeout
  console crypto decodeURI decodeURIComponent encodeURI encodeURIComponent escape eval fetch globalThis isFinite isNaN parseFloat
  parseInt queueMicrotask setInterval setTimeout structuredClone undefined unescape`.split(/\s+/);

const handlerCodeSchema = z
  .string({
    error: (issue) =>
      issue.input === undefined ? 'handlerCode is required' : 'handlerCode must be a string',
  })
  .min(1, 'handlerCode is required')
  .max(executorLimits.handlerCodeChars)
  .describe('Body of `async (args, context, parley, fetch) => …`, in JavaScript or TypeScript.');

/** An entry of `allowedHosts`: a host name, or `*.` followed by a domain. */
export const hostPatternSchema = z
  .string()
  .max(253)
  .regex(/^(\*\.)?[^\s*/@]+$/, 'must be a host such as api.example.com or *.example.com');

/** Body of `POST /execute`. */
export const executeBodySchema = z.strictObject({
  handlerCode: handlerCodeSchema,
  args: jsonObjectSchema.describe('Arguments of the call.'),
  context: jsonObjectSchema
    .optional()
    .describe(
      'What the handler receives as `context`: organization, environment, actor, thread. Its `organizationId` says whose share of the processes the call uses.',
    ),
  allowedHosts: z
    .array(hostPatternSchema)
    .max(50)
    .optional()
    .describe('Hosts that `fetch` may reach. Default: every public host. `[]`: none.'),
  secrets: z
    .record(z.string().max(64), z.string().max(executorLimits.secretBytes))
    .refine(
      (secrets) => Object.keys(secrets).length <= executorLimits.secrets,
      `must be at most ${executorLimits.secrets}`,
    )
    .optional()
    .describe(
      'Values that the handler gets as `context.secrets`. In its result, errors and logs they are replaced by `[secret NAME]`.',
    ),
  timeoutMs: z
    .number()
    .int()
    .min(1)
    .max(executorLimits.maxTimeoutMs)
    .default(executorLimits.defaultTimeoutMs)
    .describe('Time limit in milliseconds, calls and requests of the handler included.'),
  callback: z
    .strictObject({
      token: z
        .string()
        .min(1)
        .max(4096)
        .describe(
          'Short-lived and bound to the actor of this call. The executor keeps it outside of the sandbox.',
        ),
      url: z
        .url()
        .optional()
        .describe(
          'Must have the origin of `CHAT_URL`. Default: `/internal/tool-calls` on that origin.',
        ),
      depth: z
        .number()
        .int()
        .min(0)
        .default(0)
        .describe('Number of handlers that are waiting for this one.'),
    })
    .optional()
    .describe('How `parley.<tool>(…)` calls the chat service. Without it those calls fail.'),
});
export type ExecuteBody = z.input<typeof executeBodySchema>;

export const logLineSchema = z.object({
  level: z.enum(['debug', 'log', 'info', 'warn', 'error']).describe('The method of `console`.'),
  message: z.string().describe('The text of the line.'),
});
export type LogLine = z.infer<typeof logLineSchema>;

const executionMetaSchema = z
  .object({ durationMs: z.number().describe('Duration in milliseconds.') })
  .describe('How the run went.');
const logs = z.array(logLineSchema).optional().describe('What the handler wrote to its console.');
const line = z.number().int().optional().describe("Line in the handler's code, from 1.");
const column = z.number().int().optional().describe('Column in that line, from 1.');

/**
 * The result, or the error that the handler threw. `line` and `column` are positions in the
 * handler's code, from 1.
 */
export const executeResponseSchema = z.union([
  z.strictObject({
    result: z.unknown().describe('What the handler returned.'),
    logs,
    _meta: executionMetaSchema,
  }),
  z.strictObject({
    error: z
      .string()
      .describe('Message of the error that the handler threw, or that its code has.'),
    errorName: z
      .string()
      .optional()
      .describe('Its name, such as `TypeError`; `SyntaxError` for code that cannot be parsed.'),
    line,
    column,
    stack: z.string().optional().describe('Stack of the error.'),
    logs,
    _meta: executionMetaSchema,
  }),
]);

/** Body of `POST /validate`. */
export const validateBodySchema = z.strictObject({
  handlerCode: handlerCodeSchema,
  organizationId: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .describe('Whose share of the processes the call uses.'),
});
export const validateResponseSchema = z.union([
  z.strictObject({ valid: z.literal(true).describe('The code can be parsed.') }),
  z.strictObject({
    valid: z.literal(false).describe('The code cannot be parsed.'),
    error: z.string().describe('Why it cannot be parsed.'),
    line,
    column,
  }),
]);

/**
 * `POST {CHAT_URL}/internal/tool-calls`, sent by the executor with
 * `Authorization: Bearer <callback token>` and the `X-Request-Id` of the execution, for each
 * `parley.<tool>(args)` of a handler. The status is 200 if the token is valid, even when the call
 * is refused, and otherwise 401.
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
export type ToolCallbackResponse =
  { ok: true; result: unknown } | { ok: false; error: string; errorType: string };
