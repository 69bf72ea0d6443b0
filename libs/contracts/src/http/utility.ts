import { z } from 'zod';
import { logLineSchema } from '../executor';
import { jsonObjectSchema } from '../json';
import { environmentSchema } from '../scope';
import { channels } from './chat';

export const compilePromptBodySchema = z.object({
  slug: z
    .string({ error: 'slug is required' })
    .min(1, 'slug is required')
    .describe('Slug of the agent.'),
  message: z.string().optional().describe('Value of `{{message}}`.'),
  channel: z
    .enum(channels)
    .optional()
    .describe('Value of `{{threadContext.channel}}`. Default: `api`.'),
  threadMetadata: jsonObjectSchema.optional().meta({
    description:
      "Sample values of the thread's params: their fields, or `{ params }` as in the `threadContext` of a message.",
  }),
});

/**
 * The prompt before and after its template variables and function calls were resolved,
 * and their values.
 */
export const compilePromptResponseSchema = z.object({
  raw: z.string().describe('The prompt as it was pushed.'),
  compiled: z
    .string()
    .describe('The prompt with its values. What cannot be resolved reads `[TEMPLATE_ERROR: …]`.'),
  context: jsonObjectSchema.describe(
    'Values that the prompt used, by their written name, and results of its tool calls.',
  ),
});
export type CompilePromptResponse = z.infer<typeof compilePromptResponseSchema>;

export const runToolBodySchema = z.object({
  agentSlug: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Slug of the agent that calls: its `tools` and roles apply. Default: the system, or the role of the key.',
    ),
  toolName: z
    .string({ error: 'toolName is required' })
    .min(1, 'toolName is required')
    .describe('Name of the tool, such as `entity.query`.'),
  args: jsonObjectSchema.optional().describe('Arguments of the tool. Default: `{}`.'),
});

export const runToolResponseSchema = z.object({
  tool: z
    .object({
      name: z.string().describe('Name of the tool.'),
      isBuiltin: z.boolean().describe('False for custom tools and tools of MCP servers.'),
    })
    .describe('The tool that ran.'),
  agent: z
    .object({
      name: z.string().describe('Name of the agent, for people.'),
      slug: z.string().describe('Slug of the agent.'),
    })
    .nullable()
    .describe('The agent that called. Null if the tool ran without one.'),
  environment: environmentSchema.describe('Environment of the key.'),
  result: z.unknown().optional().describe('What the tool returned.'),
  logs: z
    .array(logLineSchema)
    .optional()
    .describe('Console output of the handler of a custom tool.'),
  durationMs: z.number().describe('Duration in milliseconds.'),
  identity: z
    .object({
      actorType: z.string().describe('`agent`, `user` for a key with a role, or `system`.'),
    })
    .describe('As whom the tool ran.'),
});
export type RunToolResponse = z.infer<typeof runToolResponseSchema>;

export const fireTriggerBodySchema = z.object({
  triggerSlug: z
    .string({ error: 'triggerSlug is required' })
    .min(1, 'triggerSlug is required')
    .describe('Slug of the trigger.'),
  entityId: z
    .string()
    .min(1)
    .optional()
    .describe('Id of the entity whose `data` is `{{trigger.data}}`.'),
  data: jsonObjectSchema.optional().describe("Merged into the entity's `data`, or used alone."),
});

export const fireTriggerResponseSchema = z.object({
  success: z.boolean().describe('All actions succeeded.'),
  triggerSlug: z.string().describe('Slug of the trigger.'),
  result: z
    .object({
      runId: z.string().describe('Id of the run, as `parley triggers show` accepts it.'),
      steps: z
        .array(
          z.object({
            tool: z.string().describe('Name of the tool.'),
            status: z.string().describe('`success`.'),
            durationMs: z.number().describe('Duration in milliseconds.'),
          }),
        )
        .describe('The actions, in their order.'),
      durationMs: z.number().describe('Duration of the run in milliseconds.'),
    })
    .describe('The run of the trigger.'),
});
export type FireTriggerResponse = z.infer<typeof fireTriggerResponseSchema>;

/**
 * The values of `errorType` in errors of run-tool and fire-trigger
 * (docs/reference/errors.md#utility-errors).
 */
export const toolErrorTypes = [
  'not_found',
  'tool_not_found',
  'permission_denied',
  'execution_error',
] as const;
