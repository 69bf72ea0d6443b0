import { healthReportSchema } from '../../http/manage/health-report';
import { defineOperations, get } from '../operation';

const table = {
  getHealthReport: get('/v1/health-report', 'manage', { people: 'member', replica: true }),
};

export const healthReportOperations = defineOperations('Operations', table, {
  getHealthReport: {
    summary: 'Get the health report',
    description:
      'Returns what is dead, waiting or refused in the environment, since when, and how to retry it.',
    response: healthReportSchema,
    example: {
      response: {
        checkedAt: 1763683200000,
        isHealthy: false,
        problems: [
          {
            kind: 'dead_trigger_runs',
            state: 'dead',
            description:
              'Trigger runs that failed in all their attempts. Retry them after you have fixed the cause.',
            count: 14,
            isCapped: false,
            oldestAt: 1763596800000,
            names: [],
            operation: 'POST /v1/trigger-runs/retry',
            command: 'parley triggers retry RUN',
          },
        ],
      },
    },
  },
});
