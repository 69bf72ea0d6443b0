import { z } from 'zod';
import { isTimeZone } from '../../time-zone';
import { time, timeOrNull } from './list';

/** Hours of a month, and days of more than a year. */
const maxBuckets = { hour: 800, day: 400 } as const;
const lengthMs = { hour: 3_600_000, day: 86_400_000 } as const;

const requiredTime = (description: string) =>
  z
    .string(`a time in Unix milliseconds is required`)
    .regex(/^\d{1,13}$/, 'must be a time in Unix milliseconds')
    .transform(Number)
    .meta({ type: 'integer', description: `${description} Unix milliseconds.` });

export const statisticsQuerySchema = z
  .object({
    from: requiredTime('The beginning. It is moved to the beginning of its hour or day.'),
    to: requiredTime('The end, which is not included.'),
    interval: z.enum(['hour', 'day']).describe('At most 800 hours or 400 days may be requested.'),
    timezone: z
      .string()
      .max(60)
      .regex(/^[A-Za-z][\w+/-]*$/, 'must be the name of a time zone')
      .refine(isTimeZone, 'must be the name of a time zone')
      .default('UTC')
      .describe('Where days begin, such as `America/Santiago`.'),
    agent: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('Only executions of the agent with this slug.'),
    channel: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('Only executions of this channel, such as `whatsapp`.'),
  })
  .refine(({ from, to }) => from < to, { path: ['to'], message: 'must be after from' })
  .refine(({ from, to, interval }) => (to - from) / lengthMs[interval] <= maxBuckets[interval], {
    path: ['from'],
    message: `more than ${maxBuckets.hour} hours or ${maxBuckets.day} days`,
  });

const count = (description: string) => z.number().int().describe(description);
const durationMs = (share: string) =>
  z
    .number()
    .nullable()
    .describe(`${share} of the answers took at most this long, in milliseconds, within 10 %.`);

export const statisticsSchema = z.object({
  completeUntil: timeOrNull('The figures before this time are complete. Later ones may change.'),
  data: z
    .array(
      z.object({
        start: time('The beginning of the hour or day.'),
        messages: count('Messages of contacts and callers.'),
        executions: count(
          'Messages that an agent had to answer: not those of threads that a person had taken over.',
        ),
        failures: count('Executions that failed.'),
        p50Ms: durationMs('Half'),
        p95Ms: durationMs('95 %'),
        inputTokens: count('Tokens that models have read.'),
        outputTokens: count('Tokens that models have written.'),
        toolCalls: count('Tool calls.'),
        toolErrors: count('Tool calls that failed or were denied.'),
      }),
    )
    .describe('All hours or days of the range, oldest first.'),
});
