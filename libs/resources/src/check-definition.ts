import { type ErrorDetail, type Json, type ResourceKind, filterOperators } from '@parley/contracts';
import { checkTypeSchema } from '@parley/entities';
import { findUnclosed, parameterProblems } from '@parley/tools';
import { nextTickMs, triggerProblems } from '@parley/triggers';
import { cronProblem, isTimeZone } from './cron';
import type { Definition } from './definition';

/** What is wrong inside one definition, beyond its shape; paths are inside it. */
export function checkDefinition(kind: ResourceKind, definition: Definition): ErrorDetail[] {
  switch (kind) {
    case 'routers':
      return checkRouter(definition as Definition<'routers'>);
    case 'triggers':
      return checkTrigger(definition as Definition<'triggers'>);
    case 'tools':
      return checkTool(definition as Definition<'tools'>);
    case 'entityTypes':
      return checkTypeSchema((definition as Definition<'entityTypes'>).schema);
    case 'agents':
      return checkPrompt((definition as Definition<'agents'>).systemPrompt);
    case 'roles':
      return [];
  }
}

/** A model would read an unclosed template as it stands. */
function checkPrompt(prompt: string): ErrorDetail[] {
  const at = findUnclosed(prompt);
  if (at === null) return [];
  const line = prompt.slice(0, at).split('\n').length;
  const [written] = prompt.slice(at, at + 40).split('\n');
  return [{ path: 'systemPrompt', message: `has a template that is never closed in line ${line}: ${written}` }];
}

const checkTool = ({ parameters }: Definition<'tools'>): ErrorDetail[] =>
  parameterProblems(parameters).map(({ path, message }) => ({
    path: path === '' ? 'parameters' : `parameters.${path}`,
    message,
  }));

function checkRouter({ rules = [] }: Definition<'routers'>): ErrorDetail[] {
  return rules.flatMap(({ conditions }, rule) =>
    conditions.flatMap(({ field, operator, value }, index) => {
      const path = `rules.${rule}.conditions.${index}`;
      const named = /^[^.]+\.[^.]+/.test(field);
      return [
        ...(named ? [] : [{ path: `${path}.field`, message: 'must be <entity type>.<field>, such as customer.tier' }]),
        ...operandProblem(operator, value, `${path}.value`),
      ];
    }),
  );
}

function operandProblem(operator: string, value: Json, path: string): ErrorDetail[] {
  const name = operator.replace(/^\$/, '');
  if ((name === 'in' || name === 'nin') && !Array.isArray(value))
    return [{ path, message: `${operator} needs a list` }];
  if (name === 'exists' && typeof value !== 'boolean') return [{ path, message: `${operator} needs true or false` }];
  return [];
}

function checkTrigger(trigger: Definition<'triggers'>): ErrorDetail[] {
  const { on, schedule } = trigger;
  const problems = triggerProblems(trigger);
  if ('schedule' in on) {
    const problem = cronProblem(on.schedule);
    if (problem !== null) problems.push({ path: 'on.schedule', message: problem });
    else if (nextTickMs({ expression: on.schedule, timezone: 'UTC' }, Date.now()) === null)
      problems.push({ path: 'on.schedule', message: 'names a time that never comes' });
    if (on.timezone !== undefined && !isTimeZone(on.timezone)) {
      problems.push({ path: 'on.timezone', message: `"${on.timezone}" is not a time zone` });
    }
  } else {
    for (const [field, condition] of Object.entries(on.condition ?? {})) {
      problems.push(...checkCondition(field, condition));
    }
  }
  if (schedule?.delay !== undefined && schedule.at !== undefined) {
    problems.push({ path: 'schedule', message: 'takes delay or at, not both' });
  }
  return problems;
}

const conditionField = /^(data|previousData)\..+$|^(status|previousStatus)$/;
const operators = new Set<string>(filterOperators);

function checkCondition(field: string, condition: Json): ErrorDetail[] {
  const path = `on.condition.${field}`;
  if (!conditionField.test(field)) return [{ path, message: 'must name data.<field>, previousData.<field> or status' }];
  if (typeof condition !== 'object' || condition === null || Array.isArray(condition)) return [];
  const keys = Object.keys(condition);
  if (!keys.some((key) => key.startsWith('$'))) return [];
  return keys.flatMap((key) =>
    operators.has(key)
      ? operandProblem(key, condition[key]!, `${path}.${key}`)
      : [{ path: `${path}.${key}`, message: `unknown operator; there are ${filterOperators.join(' ')}` }],
  );
}
