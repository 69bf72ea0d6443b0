import { z } from 'zod';
import { time, timeOrNull } from './list';

const problemKinds = [
  'dead_trigger_runs',
  'failed_webhook_deliveries',
  'unattributed_webhook_deliveries',
  'failed_messages',
  'unknown_messages',
  'failed_emails',
  'unknown_emails',
  'stalled_executions',
  'interrupted_payments',
  'unregistered_connections',
  'disabled_integrations',
  'unreadable_integrations',
  'held_work',
] as const;
export type ProblemKind = (typeof problemKinds)[number];

export const healthReportSchema = z.object({
  checkedAt: time('When the report was made.'),
  isHealthy: z.boolean().describe('Whether nothing needs attention.'),
  problems: z
    .array(
      z.object({
        kind: z.enum(problemKinds).describe('What needs attention.'),
        state: z
          .enum(['dead', 'waiting', 'refused'])
          .describe(
            '`dead`: nothing happens without a person. `waiting`: the service tries again. `refused`: a provider or setting refuses it.',
          ),
        description: z.string().describe('What happened, and what to do.'),
        count: z.number().int().describe('How many there are, at most 1,000 of each.'),
        isCapped: z.boolean().describe('Whether there are more than `count`.'),
        oldestAt: timeOrNull('Since when.'),
        names: z
          .array(z.string())
          .describe('The integrations concerned, by provider. Empty for other kinds.'),
        operation: z
          .string()
          .nullable()
          .describe(
            'The API operation that retries it or fixes the cause: method and path. Null when only an operator of the installation can.',
          ),
        command: z
          .string()
          .nullable()
          .describe('The command that does the same. Null when nothing has to be done.'),
      }),
    )
    .describe('What needs attention in the environment, the gravest first.'),
});
