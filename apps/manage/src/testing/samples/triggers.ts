import { newId } from '@parley/db';
import type { World } from '../create-test-api';
import type { Prepare } from './sample';

/** Inserts a trigger unless the world has it, and returns its slug. */
export async function trigger({ db, scope }: World, definition: object = {}): Promise<string> {
  await db.pool.query(
    `insert into triggers (id, tenant, environment, slug, name, entity_type, action, definition, updated_at)
     values ($1, $2, $3::"Environment", 'new-order', 'New order', 'order', 'created', $4, now()) on conflict do nothing`,
    [
      newId('trigger'),
      scope.tenant,
      scope.environment,
      JSON.stringify({
        on: { entityType: 'order', action: 'created' },
        actions: [],
        ...definition,
      }),
    ],
  );
  return 'new-order';
}

/** Inserts a run of the trigger, and returns its id. */
export async function triggerRun(
  world: World,
  status: 'dead' | 'scheduled' | 'succeeded',
): Promise<string> {
  const id = newId('run');
  await world.db.pool.query(
    `insert into trigger_runs (id, tenant, environment, trigger_slug, cause, status, run_at, context, error)
     values ($1, $2, $3::"Environment", $4, 'manual-' || $1, $5::"TriggerRunStatus", now(), '{}', 'broken')`,
    [id, world.scope.tenant, world.scope.environment, await trigger(world), status],
  );
  return id;
}

const theTrigger: Prepare = async (world) => ({ params: { slug: await trigger(world) } });
const run =
  (status: 'dead' | 'scheduled'): Prepare =>
  async (world) => ({ params: { id: await triggerRun(world, status) } });
const runsOf =
  (status: 'dead' | 'scheduled'): Prepare =>
  async (world) => {
    await triggerRun(world, status);
    return { body: { trigger: 'new-order' } };
  };

export const triggerSamples = {
  async listTriggers(world) {
    await triggerRun(world, 'dead');
    return {};
  },
  enableTrigger: theTrigger,
  disableTrigger: theTrigger,
  async listTriggerRuns(world) {
    await triggerRun(world, 'dead');
    return { query: { status: 'dead', trigger: 'new-order' } };
  },
  getTriggerRun: run('dead'),
  retryTriggerRun: run('dead'),
  cancelTriggerRun: run('scheduled'),
  retryTriggerRuns: runsOf('dead'),
  cancelTriggerRuns: runsOf('scheduled'),
} satisfies Record<string, Prepare>;
