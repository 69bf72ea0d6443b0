import { z } from 'zod';
import { jsonObjectSchema } from '../json';
import { slugSchema } from '../slug';

export const triggerDefinitionSchema = z.strictObject({
  slug: slugSchema.describe(
    'The name in references, such as `order-paid`. Unique in an environment.',
  ),
  name: z.string().min(1).max(200).describe('The name for people.'),
  on: z
    .union([
      z.strictObject({
        entityType: slugSchema.describe('Slug of the entity type whose changes start the trigger.'),
        action: z.enum(['created', 'updated', 'deleted']).describe('The kind of change.'),
        condition: jsonObjectSchema
          .optional()
          .describe(
            'Filters that the change must match: on `data.<field>`, `previousData.<field>`, `status` and `previousStatus`. Default: every change.',
          ),
      }),
      z.strictObject({
        schedule: z
          .string()
          .min(1)
          .max(100)
          .describe(
            'When the trigger runs: a cron expression of five fields, such as `0 9 * * 1`.',
          ),
        timezone: z
          .string()
          .min(1)
          .max(64)
          .optional()
          .describe('Time zone of the schedule, an IANA name. Default: that of the organization.'),
      }),
    ])
    .describe('What starts the trigger: a change of an entity, or a schedule.'),
  actions: z
    .array(
      z.strictObject({
        tool: z.string().min(1).max(200).describe('Name of a tool.'),
        args: jsonObjectSchema.describe(
          'Its arguments. Texts are templates: `{{trigger.data.total}}`.',
        ),
        as: z
          .string()
          .min(1)
          .max(100)
          .optional()
          .describe('Name of the result for later actions: `{{steps.NAME.id}}`.'),
      }),
    )
    .min(1)
    .max(50)
    .describe('Tools that are called one after the other.'),
  schedule: z
    .strictObject({
      delay: z
        .union([z.number().min(0), z.string().max(50)])
        .optional()
        .describe(
          'How long after the event the run begins: milliseconds, or a duration such as `2h`, at most 100 years. Default: at once.',
        ),
      at: z
        .string()
        .max(200)
        .optional()
        .describe(
          'The time at which the run begins, often a template such as `{{trigger.data.startsAt}}`. Not with `delay`.',
        ),
      offset: z
        .union([z.number(), z.string().max(50)])
        .optional()
        .describe(
          'Moves `at`: milliseconds, or a duration such as `-1h`, at most 100 years. Default: 0.',
        ),
      cancelPrevious: z
        .boolean()
        .optional()
        .describe(
          'Whether a new run cancels those of the same trigger and entity that have not begun. Default: `false`.',
        ),
    })
    .optional()
    .describe('When a run begins after its event. Default: at once.'),
  retry: z
    .strictObject({
      maxAttempts: z.int().min(1).max(20).describe('Attempts of a run, the first one included.'),
      backoffMs: z
        .int()
        .min(0)
        .max(86_400_000)
        .optional()
        .describe(
          'Milliseconds before the second attempt, doubled for each further one. Default: 1,000.',
        ),
    })
    .optional()
    .describe('How often a run that fails is repeated. Default: one attempt.'),
  enabled: z
    .boolean()
    .optional()
    .describe(
      'Whether changes start the trigger. Due runs of a disabled trigger are cancelled. Default: `true`.',
    ),
  cascade: z
    .boolean()
    .optional()
    .describe('Whether changes that its actions make start other triggers. Default: `false`.'),
});
export type TriggerDefinition = z.infer<typeof triggerDefinitionSchema>;
