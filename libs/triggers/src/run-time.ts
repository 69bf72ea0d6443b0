import type { Json, TriggerDefinition } from '@parley/contracts';
import { resolveArgs } from '@parley/tools';
import { durationMs } from './duration';
import { instantMs } from './instant';
import { type RunSubject, runVariables } from './run-variables';

/** A field of the changed entity that holds a time. */
export const changedTimePattern = /^(trigger\.)?(data|previousData)\.[\w.-]+$/;

export type PlannedTime = { ok: true; runAtMs: number } | { ok: false; problem: string };

/**
 * When a run is due (decisions.md, Triggers): at once, after `delay`, or at a time `at` that the change names, moved by
 * `offset`. A time that has passed is now. `at` is a template, a path such as `data.startsAt`, or a date.
 */
export async function runTime(schedule: TriggerDefinition['schedule'], subject: RunSubject): Promise<PlannedTime> {
  const fromMs = subject.timestamp;
  if (schedule?.at !== undefined) return timeOfAt(schedule.at, schedule.offset, subject);
  if (schedule?.delay === undefined) return { ok: true, runAtMs: fromMs };
  const delay = durationMs(schedule.delay);
  if (delay === null) return { ok: false, problem: `schedule.delay "${schedule.delay}" is not a duration` };
  return atMost(fromMs + Math.max(0, delay));
}

async function timeOfAt(at: string, offset: number | string | undefined, subject: RunSubject): Promise<PlannedTime> {
  const template = changedTimePattern.test(at) ? `{{trigger.${at.replace(/^trigger\./, '')}}}` : at;
  const { args: value, errors } = await resolveArgs<Json>(template, { variables: runVariables(subject) });
  if (errors[0] !== undefined) return { ok: false, problem: `schedule.at: ${errors[0].name} ${errors[0].message}` };
  const instant = instantMs(value, subject.organization.timezone);
  if (instant === null) return { ok: false, problem: `schedule.at: ${JSON.stringify(value)} is not a time` };
  const moved = offset === undefined ? 0 : durationMs(offset);
  if (moved === null) return { ok: false, problem: `schedule.offset "${offset}" is not a duration` };
  return atMost(Math.max(subject.timestamp, instant + moved));
}

/** The year 9999 is the last that dates are written in. */
const atMost = (runAtMs: number): PlannedTime =>
  runAtMs <= 253_402_300_799_000 ? { ok: true, runAtMs } : { ok: false, problem: 'the schedule is too far ahead' };
