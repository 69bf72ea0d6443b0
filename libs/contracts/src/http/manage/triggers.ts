import { z } from 'zod';
import { jsonObjectSchema } from '../../json';
import { idParams, listOf, pageQuery, pageQueryOf, time, timeInQuery, timeOrNull } from './list';

const triggerSlug = z.string().min(1).max(100).describe('Slug of the trigger.');
export const triggerParamsSchema = z.object({ slug: triggerSlug });
export const runParamsSchema = idParams;

const triggerSchema = z.object({
  slug: triggerSlug,
  name: z.string().describe('The name for people.'),
  enabled: z.boolean().describe('Whether changes and ticks start runs.'),
  on: jsonObjectSchema.describe(
    'What starts a run, as pushed: a change of an entity type, or a schedule.',
  ),
  definition: jsonObjectSchema.describe(
    'The definition, as it was pushed: `on` with its condition, `actions`, `schedule` and `retry`.',
  ),
  nextTickAt: timeOrNull('The next tick of a schedule. Null for other triggers and disabled ones.'),
  runs: z
    .record(z.string(), z.number())
    .describe('Number of runs by status: unfinished ones, and those created in the last 24 hours.'),
});

/** By default all: an environment has at most 1,000, unless they are large. */
export const listTriggersQuerySchema = z.object(pageQueryOf(1_000, 1_000));
export const triggerListSchema = listOf(triggerSchema);

export const triggerSwitchSchema = z.object({
  slug: triggerSlug,
  enabled: z.boolean().describe('Whether changes and ticks start runs.'),
});

const runStatuses = ['scheduled', 'running', 'succeeded', 'dead', 'cancelled', 'held'] as const;

const runFields = {
  id: z.string().describe('Id of the run.'),
  triggerSlug,
  cause: z
    .string()
    .describe('`event-…`, `tick-…` or `manual-…`; `refused-…` for the record of refused runs.'),
  author: z
    .object({
      type: z.enum(['person', 'api_key']).describe('A signed-in person or an API key.'),
      id: z.string().describe('Id of the person or key.'),
    })
    .nullable()
    .describe('Who fired the trigger by hand. Null for other runs.'),
  entityId: z.string().nullable().describe('The entity whose change caused the run.'),
  status: z
    .enum(runStatuses)
    .describe('`dead`: all attempts failed. `held`: open in a restored backup.'),
  attempts: z.number().int().describe('Attempts so far.'),
  maxAttempts: z.number().int().describe('Attempts after which the run is dead.'),
  hops: z.number().int().describe('Triggers between the first change of the chain and this run.'),
  root: z.string().describe('What began the chain of triggers: id of an event or of a run.'),
  refusedRuns: z
    .number()
    .int()
    .describe('Above 0: a record of so many refused runs, and not a run.'),
  error: z.string().nullable().describe('Why the last attempt failed.'),
  runAt: time('When the run is or was due.'),
  createdAt: time('When it was planned.'),
  startedAt: timeOrNull('When its last attempt began.'),
  finishedAt: timeOrNull('When it ended.'),
};

export const runSchema = z.object(runFields);
export const runListSchema = listOf(runSchema);

export const runDetailsSchema = z.object({
  ...runFields,
  requestId: z.string().nullable().describe('Id of the request that caused it, as in logs.'),
  context: jsonObjectSchema.describe('The values that the templates of its actions use.'),
  steps: z
    .array(
      z.object({
        tool: z.string().describe('Name of the tool.'),
        as: z.string().optional().describe('Name of the result for later actions.'),
        status: z.enum(['success', 'error']).describe('Whether the call succeeded.'),
        attempt: z.number().int().describe('The attempt of the run, from 1.'),
        startedAt: time('When the call began.'),
        durationMs: z.number().describe('Duration of the call, in milliseconds.'),
        args: z.unknown().optional().describe('Its arguments, with the values of templates.'),
        result: z.unknown().optional().describe('Its result.'),
        errorType: z.string().optional().describe('Kind of the error.'),
        error: z.string().optional().describe('Why it failed.'),
      }),
    )
    .describe('The calls of all attempts, in order.'),
});

export const listRunsQuerySchema = z.object({
  ...pageQuery,
  trigger: triggerSlug.optional().describe('Only runs of this trigger.'),
  status: z.enum(runStatuses).optional().describe('Only runs with this status.'),
  entityId: z
    .string()
    .max(200)
    .optional()
    .describe('Only runs that a change of this entity caused.'),
  since: timeInQuery('Only runs planned from this time on.'),
});

export const changeRunsBodySchema = z.strictObject({ trigger: triggerSlug });
export const changedRunsSchema = z.object({
  runs: z.array(z.string()).describe('Ids of the runs that were changed.'),
});
