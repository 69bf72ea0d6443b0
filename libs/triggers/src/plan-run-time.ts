import {
  type Json,
  type TriggerDefinition,
  dayMs,
  instantOf,
  localTimeOf,
} from '@parley/contracts';
import { resolveArgs } from '@parley/tools';
import { type Duration, parseDuration, parseDurationMs } from './parse-duration';
import { parseInstantMs } from './parse-instant';
import { type RunSubject, runVariables } from './run-variables';

/** The path of a field of the changed entity. */
export const changedTimePattern = /^(trigger\.)?(data|previousData)\.[\w.-]+$/;

export type PlannedTime = { ok: true; runAtMs: number } | { ok: false; problem: string };

/**
 * When a run is due (docs/reference/triggers.md#when-a-run-is-due): immediately, after `delay`, or
 * at the time `at`, moved by `offset`. `at` is a template, a path such as `data.startsAt`, or a
 * date. A time in the past means immediately.
 */
export async function planRunTime(
  schedule: TriggerDefinition['schedule'],
  subject: RunSubject,
): Promise<PlannedTime> {
  const fromMs = subject.timestamp;
  if (schedule?.at !== undefined) return resolveAt(schedule.at, schedule.offset, subject);
  if (schedule?.delay === undefined) return { ok: true, runAtMs: fromMs };
  const delay = parseDurationMs(schedule.delay);
  if (delay === null)
    return { ok: false, problem: `schedule.delay "${schedule.delay}" is not a duration` };
  return checked(fromMs + Math.max(0, delay));
}

async function resolveAt(
  at: string,
  offset: number | string | undefined,
  subject: RunSubject,
): Promise<PlannedTime> {
  const template = changedTimePattern.test(at) ? `{{trigger.${at.replace(/^trigger\./, '')}}}` : at;
  const { args: value, errors } = await resolveArgs<Json>('schedule', template, {
    variables: runVariables(subject),
  });
  if (errors[0] !== undefined)
    return { ok: false, problem: `schedule.at: ${errors[0].name} ${errors[0].message}` };
  const { timezone } = subject.organization;
  const instant = parseInstantMs(value, timezone);
  if (instant === null)
    return { ok: false, problem: `schedule.at: ${JSON.stringify(value)} is not a time` };
  if (offset === undefined) return checked(Math.max(subject.timestamp, instant));
  const duration = parseDuration(offset);
  if (duration === null)
    return { ok: false, problem: `schedule.offset "${offset}" is not a duration` };
  return checked(Math.max(subject.timestamp, moved(instant, duration, timezone)));
}

/** An instant some days later, at the same local time, and then some milliseconds later. */
function moved(instantMs: number, { days, ms }: Duration, timezone: string): number {
  if (days === 0) return instantMs + ms;
  return instantOf(localTimeOf(instantMs, timezone) + days * dayMs, timezone) + ms;
}

/** Refuses times after the year 9999, which dates in ISO 8601 cannot express. */
const checked = (runAtMs: number): PlannedTime =>
  runAtMs <= 253_402_300_799_000
    ? { ok: true, runAtMs }
    : { ok: false, problem: 'the schedule is too far ahead' };
