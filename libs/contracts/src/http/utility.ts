import { z } from 'zod';
import { logLineSchema } from '../executor';
import { jsonObjectSchema } from '../json';
import { environmentSchema } from '../scope';
import { channels } from './chat';

export const compilePromptBodySchema = z.object({
  slug: z.string({ error: 'slug is required' }).min(1, 'slug is required'),
  message: z.string().optional(),
  channel: z.enum(channels).optional(),
  threadMetadata: jsonObjectSchema.optional().meta({
    description:
      "Sample values of the thread's params: their fields, or `{ params }` as in the `threadContext` of a message.",
  }),
});

/** The prompt before and after its template variables and function calls were resolved, and their values. */
export const compilePromptResponseSchema = z.object({
  raw: z.string(),
  compiled: z.string(),
  context: jsonObjectSchema,
});
export type CompilePromptResponse = z.infer<typeof compilePromptResponseSchema>;

export const runToolBodySchema = z.object({
  agentSlug: z.string().min(1).optional(),
  toolName: z.string({ error: 'toolName is required' }).min(1, 'toolName is required'),
  args: jsonObjectSchema.optional(),
});

export const runToolResponseSchema = z.object({
  tool: z.object({ name: z.string(), isBuiltin: z.boolean() }),
  /** Null if the tool ran as the system. */
  agent: z.object({ name: z.string(), slug: z.string() }).nullable(),
  environment: environmentSchema,
  result: z.unknown().optional(),
  /** Console output of the handler of a custom tool. */
  logs: z.array(logLineSchema).optional(),
  durationMs: z.number(),
  identity: z.object({ actorType: z.string() }),
});
export type RunToolResponse = z.infer<typeof runToolResponseSchema>;

export const fireTriggerBodySchema = z.object({
  triggerSlug: z.string({ error: 'triggerSlug is required' }).min(1, 'triggerSlug is required'),
  entityId: z.string().min(1).optional(),
  data: jsonObjectSchema.optional(),
});

export const fireTriggerResponseSchema = z.object({
  success: z.boolean(),
  triggerSlug: z.string(),
  result: z.object({
    /** The id that `parley triggers show` accepts. */
    runId: z.string(),
    steps: z.array(z.object({ tool: z.string(), status: z.string(), durationMs: z.number() })),
    durationMs: z.number(),
  }),
});
export type FireTriggerResponse = z.infer<typeof fireTriggerResponseSchema>;

/** The values of `errorType` in errors of run-tool and fire-trigger (docs/reference/errors.md#utility-errors). */
export const toolErrorTypes = ['not_found', 'tool_not_found', 'permission_denied', 'execution_error'] as const;
