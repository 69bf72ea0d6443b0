import { formatDuration } from '../terminal';

/** Time from the begin of a run's last attempt to its end; undefined before the end. */
export const tookOf = (run: {
  startedAt: number | null;
  finishedAt: number | null;
}): string | undefined =>
  run.startedAt === null || run.finishedAt === null
    ? undefined
    : formatDuration(run.finishedAt - run.startedAt);
