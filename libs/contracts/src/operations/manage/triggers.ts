import {
  changeRunsBodySchema,
  changedRunsSchema,
  listRunsQuerySchema,
  listTriggersQuerySchema,
  runDetailsSchema,
  runListSchema,
  runParamsSchema,
  runSchema,
  triggerListSchema,
  triggerParamsSchema,
  triggerSwitchSchema,
} from '../../http/manage/triggers';
import { type ErrorExample, defineOperations, get, post } from '../operation';

const member = { people: 'member', rateLimited: true } as const;
const table = {
  listTriggers: get('/v1/triggers', 'manage', member),
  enableTrigger: post('/v1/triggers/:slug/enable', 'manage', member),
  disableTrigger: post('/v1/triggers/:slug/disable', 'manage', member),
  listTriggerRuns: get('/v1/trigger-runs', 'manage', { ...member, replica: true }),
  retryTriggerRuns: post('/v1/trigger-runs/retry', 'manage', member),
  cancelTriggerRuns: post('/v1/trigger-runs/cancel', 'manage', member),
  getTriggerRun: get('/v1/trigger-runs/:id', 'manage', member),
  retryTriggerRun: post('/v1/trigger-runs/:id/retry', 'manage', member),
  cancelTriggerRun: post('/v1/trigger-runs/:id/cancel', 'manage', member),
};

const noTrigger: ErrorExample = ['trigger_not_found', 'Trigger new-order not found'];
const noRun: ErrorExample = ['run_not_found', 'Trigger run not found'];
const run = {
  id: 'run_01',
  triggerSlug: 'new-order',
  cause: 'event-3698432093388800',
  author: null,
  entityId: 'ent_01',
  status: 'dead',
  attempts: 3,
  maxAttempts: 3,
  hops: 1,
  root: '3698432093388800',
  refusedRuns: 0,
  error: 'whatsapp.send: window_closed',
  runAt: 1763683200000,
  createdAt: 1763683200000,
  startedAt: 1763683201000,
  finishedAt: 1763683202000,
};

export const triggerOperations = defineOperations('Operations', table, {
  listTriggers: {
    summary: 'List triggers',
    description: 'The triggers of the environment, ordered by slug.',
    query: listTriggersQuerySchema,
    response: triggerListSchema,
    example: {
      response: {
        data: [
          {
            slug: 'new-order',
            name: 'New order',
            enabled: true,
            on: { entityType: 'order', action: 'created' },
            definition: {
              name: 'New order',
              on: { entityType: 'order', action: 'created' },
              actions: [
                {
                  tool: 'whatsapp.send',
                  args: { to: '{{trigger.data.phone}}', text: 'We have your order.' },
                },
              ],
              retry: { maxAttempts: 3, backoffMs: 60_000 },
            },
            nextTickAt: null,
            runs: { succeeded: 12, dead: 1 },
          },
        ],
        cursor: 'c1.WyI…',
        hasMore: false,
      },
    },
  },
  enableTrigger: {
    summary: 'Enable a trigger',
    description:
      'Ends a disabling by this API. A trigger that was pushed with `enabled: false` is enabled by a push. Schedules continue with their next tick.',
    params: triggerParamsSchema,
    response: triggerSwitchSchema,
    errors: {
      404: [noTrigger],
      409: [
        [
          'disabled_by_definition',
          'The trigger was pushed with enabled: false. Push it with enabled: true',
        ],
      ],
    },
    example: { response: { slug: 'new-order', enabled: true } },
  },
  disableTrigger: {
    summary: 'Disable a trigger',
    description:
      'No change and no tick starts a run, and scheduled runs are cancelled when they are due. Until it is enabled, or a push changes the trigger.',
    params: triggerParamsSchema,
    response: triggerSwitchSchema,
    errors: { 404: [noTrigger] },
    example: { response: { slug: 'new-order', enabled: false } },
  },
  listTriggerRuns: {
    summary: 'List trigger runs',
    query: listRunsQuerySchema,
    response: runListSchema,
    errors: { 400: [['invalid_cursor', 'The cursor is invalid or belongs to another list']] },
    example: { response: { data: [run], cursor: 'c1.WyI…', hasMore: false } },
  },
  retryTriggerRuns: {
    summary: 'Retry the dead runs of a trigger',
    description:
      'Gives each of the oldest 1,000 dead runs one more attempt. Completed steps are not repeated.',
    body: changeRunsBodySchema,
    response: changedRunsSchema,
    errors: { 404: [noTrigger] },
    example: { body: { trigger: 'new-order' }, response: { runs: ['run_01'] } },
  },
  cancelTriggerRuns: {
    summary: 'Cancel the scheduled runs of a trigger',
    description: 'Cancels the oldest 1,000 scheduled runs.',
    body: changeRunsBodySchema,
    response: changedRunsSchema,
    errors: { 404: [noTrigger] },
    example: { body: { trigger: 'new-order' }, response: { runs: ['run_01'] } },
  },
  getTriggerRun: {
    summary: 'Retrieve a trigger run',
    params: runParamsSchema,
    response: runDetailsSchema,
    errors: { 404: [noRun] },
    example: { response: { ...run, requestId: 'req_01', context: {}, steps: [] } },
  },
  retryTriggerRun: {
    summary: 'Retry a trigger run',
    description:
      'Gives a dead or cancelled run one more attempt, at once. Completed steps are not repeated.',
    params: runParamsSchema,
    response: runSchema,
    errors: {
      404: [noRun],
      409: [['run_not_retryable', 'Only dead and cancelled runs can be retried']],
    },
    example: { response: { ...run, status: 'scheduled' } },
  },
  cancelTriggerRun: {
    summary: 'Cancel a trigger run',
    description: 'Cancels a scheduled run. A running one stops before its next step.',
    params: runParamsSchema,
    response: runSchema,
    errors: { 404: [noRun], 409: [['run_ended', 'The run has ended']] },
    example: { response: { ...run, status: 'cancelled' } },
  },
});
