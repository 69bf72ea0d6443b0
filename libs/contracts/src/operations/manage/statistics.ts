import { statisticsQuerySchema, statisticsSchema } from '../../http/manage/statistics';
import { defineOperations, get } from '../operation';

const table = {
  getStatistics: get('/v1/statistics', 'manage', { people: 'member', replica: true }),
};

export const statisticsOperations = defineOperations('Operations', table, {
  getStatistics: {
    summary: 'Get statistics',
    description:
      'Returns messages, executions, failures, latency, tokens and tool errors for each hour or day. The last hours are counted when they are requested.',
    query: statisticsQuerySchema,
    response: statisticsSchema,
    errors: { 400: [['invalid_query', 'to: must be after from']] },
    example: {
      response: {
        completeUntil: 1763683200000,
        data: [
          {
            start: 1763596800000,
            messages: 420,
            executions: 410,
            failures: 3,
            p50Ms: 2281,
            p95Ms: 6811,
            inputTokens: 812000,
            outputTokens: 61200,
            toolCalls: 530,
            toolErrors: 12,
          },
        ],
      },
    },
  },
});
