import { type HeldWork, type Queryable, droppedReason, heldWork, statement } from '@parley/db';

/** A run keeps its lease: it was running if it has one. */
const runs = heldWork({
  kind: 'runs',
  table: 'trigger_runs',
  isOpen: `status in ('scheduled', 'running')`,
  isHeld: `status = 'held'`,
  hold: `status = 'held', fence = fence + 1`,
  release: `status = (case when lease_until is null then 'scheduled' else 'running' end)::"TriggerRunStatus", enqueued_at = null`,
  drop: `status = 'cancelled', error = ${droppedReason}, finished_at = now(), lease_until = null`,
});

const skipTicks = statement(
  'skip-missed-ticks',
  'update triggers set next_tick_at = null, tick_schedule = null where tick_schedule is not null',
);

/**
 * Runs of triggers. Schedules continue with their next tick: the ticks since the backup
 * have had their runs.
 */
export const heldRuns: HeldWork = {
  ...runs,
  async hold(tx: Queryable) {
    await tx.acrossTenants('operator command', skipTicks);
    return runs.hold(tx);
  },
};
