import { CronExpressionParser } from 'cron-parser';

/** A cron expression of five fields and the zone that it is read in. */
export interface Schedule {
  expression: string;
  timezone: string;
}

/** The first time after `afterMs` at which a schedule is due; null when there is none, or the schedule is none. */
export const nextTickMs = (schedule: Schedule, afterMs: number): number | null => tick(schedule, afterMs, 'next');

/** The last time up to `untilMs`, itself included, at which a schedule was due. */
export const lastTickMs = (schedule: Schedule, untilMs: number): number | null => tick(schedule, untilMs + 1, 'prev');

/** The library also takes a sixth field, of seconds, which ours do not have. */
function tick({ expression, timezone }: Schedule, fromMs: number, direction: 'next' | 'prev'): number | null {
  if (expression.trim().split(/\s+/).length !== 5) return null;
  try {
    return CronExpressionParser.parse(expression, { tz: timezone, currentDate: new Date(fromMs) })
      [direction]()
      .toDate()
      .getTime();
  } catch {
    return null;
  }
}
