import type { Metrics } from '@parley/service';
import type { TriggersOptions } from '@parley/triggers';

/**
 * Metrics of trigger runs: the number of attempts by outcome, and the delay of a run's first step.
 */
export function countRuns(metrics: Metrics): NonNullable<TriggersOptions['onRun']> {
  const runs = metrics.counter(
    'trigger_runs_total',
    'Attempts of trigger runs by how they ended.',
    ['outcome'],
  );
  const delay = metrics.histogram(
    'trigger_first_step_delay_seconds',
    'Time from the change, or the planned time, to the first action of a run.',
    [],
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30, 120],
  );
  return (run, outcome) => {
    runs.inc({ outcome });
    const [first] = run.steps;
    if (first !== undefined && run.attempts === 1 && run.fence === 1) {
      delay.observe(Math.max(0, first.startedAt - run.dueAt) / 1000);
    }
  };
}
