import type { ErrorDetail, Json, TriggerDefinition } from '@parley/contracts';
import { type TemplateNode, type ValueTree, parseValue } from '@parley/tools';
import { durationMs } from './duration';
import { instantMs } from './instant';
import { changedTimePattern } from './run-time';
import { runVariables } from './run-variables';

/** As long as anybody plans ahead; what is beyond is a mistake of units. */
const longestMs = 100 * 365 * 86_400_000;

/** What would only be seen when a run dies of it: templates and times of a trigger that cannot be made out. */
export function triggerProblems({ schedule, actions }: TriggerDefinition): ErrorDetail[] {
  const problems: ErrorDetail[] = [];
  const tell = (path: string, message: string) => problems.push({ path, message });
  for (const field of ['delay', 'offset'] as const) {
    const value = schedule?.[field];
    if (value === undefined) continue;
    const ms = durationMs(value);
    if (ms === null) tell(`schedule.${field}`, `"${value}" is not a duration such as 1500, "30s" or "1h30m"`);
    else if (Math.abs(ms) > longestMs) tell(`schedule.${field}`, `"${value}" is longer than 100 years`);
  }
  const at = schedule?.at;
  if (at?.includes('{{')) problems.push(...templateProblems(at, 'schedule.at', []));
  else if (at !== undefined && !changedTimePattern.test(at) && instantMs(at, 'UTC') === null)
    tell('schedule.at', `"${at}" is neither a date nor a field such as data.startsAt`);

  const steps: string[] = [];
  for (const [index, { args, as: name }] of actions.entries()) {
    const path = `actions.${index}`;
    problems.push(...templateProblems(args, `${path}.args`, steps));
    if (name === undefined) continue;
    if (steps.includes(name)) tell(`${path}.as`, `"${name}" is the name of an earlier step`);
    else if (!/^[A-Za-z_][\w-]*$/.test(name))
      tell(`${path}.as`, 'must be letters, digits, - and _, with a letter first');
    else if (name in known) tell(`${path}.as`, `"${name}" stands for something else in templates`);
    else steps.push(name);
  }
  return problems;
}

/** What every run has. */
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
  return nodesOf(parseValue(value)).flatMap((node) => {
    if (node.kind === 'invalid') return [{ path, message: `{{${node.name}}} cannot be read; ${howTo}` }];
    if (node.kind !== 'variable' || node.fallback !== null) return [];
    const problem = nameProblem(node.name.split('.'), steps);
    return problem === null ? [] : [{ path, message: `{{${node.name}}} ${problem}` }];
  });
}

const howTo = 'templates are {{path}}, {{tool.name({json})}} and {{path | "fallback"}}';

function nameProblem([first, second]: string[], steps: readonly string[]): string | null {
  const names = (list: readonly string[]) => (list.length === 0 ? 'none' : list.join(', '));
  if (first === 'steps') {
    if (second === undefined || steps.includes(second)) return null;
    return `names no earlier step; named so far: ${names(steps)}`;
  }
  if (first === 'trigger') {
    const parts = Object.keys(known.trigger as object);
    return second === undefined || parts.includes(second) ? null : `is not known; trigger has ${names(parts)}`;
  }
  if (first! in known || steps.includes(first!)) return null;
  return `is not known; there are ${names([...Object.keys(known), ...steps])}`;
}

function nodesOf(tree: ValueTree): TemplateNode[] {
  switch (tree.kind) {
    case 'literal':
      return [];
    case 'template':
      return tree.nodes.flatMap((node) => (node.kind === 'call' ? [node, ...nodesOf(node.args)] : [node]));
    case 'array':
      return tree.items.flatMap(nodesOf);
    case 'object':
      return tree.entries.flatMap(([, value]) => nodesOf(value));
  }
}
