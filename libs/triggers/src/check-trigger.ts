import { type ErrorDetail, type Json, type TriggerDefinition, isZoneName } from '@parley/contracts';
import { hasTemplateAsFilters, templateNodes } from '@parley/tools';
import { parseDurationMs } from './parse-duration';
import { parseInstantMs } from './parse-instant';
import { cronProblem, nextTickMs } from './cron';
import { changedTimePattern } from './plan-run-time';
import { runVariables } from './run-variables';

/** A longer delay or offset is taken for a mistake of units. */
const longestMs = 100 * 365 * 86_400_000;

/** Invalid times and templates of a trigger, which would otherwise fail each of its runs. */
export function triggerProblems({ on, schedule, actions }: TriggerDefinition): ErrorDetail[] {
  const problems: ErrorDetail[] = [];
  const add = (path: string, message: string) => problems.push({ path, message });
  for (const field of ['delay', 'offset'] as const) {
    const value = schedule?.[field];
    if (value === undefined) continue;
    const ms = parseDurationMs(value);
    if (ms === null)
      add(`schedule.${field}`, `"${value}" is not a duration such as 1500, "30s" or "1h30m"`);
    else if (Math.abs(ms) > longestMs)
      add(`schedule.${field}`, `"${value}" is longer than 100 years`);
  }
  const at = schedule?.at;
  if (at?.includes('{{')) {
    problems.push(...templateProblems(at, 'schedule.at', []));
    for (const { kind, source } of templateNodes(at))
      if (kind === 'call')
        add('schedule.at', `cannot call a tool: ${source.slice(0, maxExcerptChars)}`);
  } else if (at !== undefined && !changedTimePattern.test(at) && parseInstantMs(at, 'UTC') === null)
    add('schedule.at', `"${at}" is neither a date nor a field such as data.startsAt`);

  const steps: string[] = [];
  for (const [index, { tool, args, as: name }] of actions.entries()) {
    const path = `actions.${index}`;
    problems.push(...templateProblems(args, `${path}.args`, steps));
    if (hasTemplateAsFilters(args, tool))
      add(`${path}.args`, 'filters must name each field: a template cannot be all of the filters');
    if (name === undefined) continue;
    if (steps.includes(name)) add(`${path}.as`, `"${name}" is the name of an earlier step`);
    else if (!/^[A-Za-z_][\w-]*$/.test(name))
      add(`${path}.as`, 'must be letters, digits, - and _, with a letter first');
    else if (Object.hasOwn(known, name))
      add(`${path}.as`, `"${name}" is the name of a variable of templates`);
    else steps.push(name);
  }
  if ('schedule' in on) problems.push(...cronProblems(on));
  return problems;
}

function cronProblems({
  schedule,
  timezone,
}: Extract<TriggerDefinition['on'], { schedule: string }>): ErrorDetail[] {
  const problems: ErrorDetail[] = [];
  const problem = cronProblem(schedule);
  if (problem !== null) problems.push({ path: 'on.schedule', message: problem });
  else if (nextTickMs({ expression: schedule, timezone: 'UTC' }, Date.now()) === null)
    problems.push({ path: 'on.schedule', message: 'describes a time that never occurs' });
  if (timezone !== undefined && !isZoneName(timezone))
    problems.push({
      path: 'on.timezone',
      message: `"${timezone}" is not a time zone`,
    });
  return problems;
}

/** The variables of every run. Only their names are used. */
const known = runVariables({
  triggerSlug: '',
  triggerName: '',
  runId: '',
  entityId: null,
  entityType: null,
  action: null,
  change: {},
  timestamp: 0,
  attempt: 1,
  organization: { name: '', timezone: 'UTC' },
});

function templateProblems(value: Json, path: string, steps: readonly string[]): ErrorDetail[] {
  const problems = templateNodes(value).flatMap((node) => {
    if (node.kind === 'text') {
      const open = node.source.indexOf('{{');
      if (open === -1 || node.source.includes('}}', open)) return [];
      const [excerpt] = node.source.slice(open, open + maxExcerptChars).split('\n');
      return [{ path, message: `has an unclosed template: ${excerpt}` }];
    }
    if (node.kind === 'invalid')
      return [{ path, message: `{{${node.name}}} is not a template; ${howTo}` }];
    if (node.kind !== 'variable' || node.fallback !== null) return [];
    const problem = nameProblem(node.name.split('.'), steps);
    return problem === null ? [] : [{ path, message: `{{${node.name}}} ${problem}` }];
  });
  return problems.slice(0, maxProblems);
}

/** Problems of the templates of one action. */
const maxProblems = 100;
const maxExcerptChars = 40;

const howTo = 'templates are {{path}}, {{tool.name({json})}} and {{path | "fallback"}}';

function nameProblem([first, second]: string[], steps: readonly string[]): string | null {
  const names = (list: readonly string[]) => (list.length === 0 ? 'none' : list.join(', '));
  if (first === 'steps') {
    if (second === undefined || steps.includes(second)) return null;
    return `names no earlier step; earlier steps: ${names(steps)}`;
  }
  if (first === 'trigger') {
    const fields = Object.keys(known.trigger as object);
    return second === undefined || fields.includes(second)
      ? null
      : `is unknown; fields of trigger: ${names(fields)}`;
  }
  if (Object.hasOwn(known, first!) || steps.includes(first!)) return null;
  return `is unknown; known names: ${names([...Object.keys(known), ...steps])}`;
}
