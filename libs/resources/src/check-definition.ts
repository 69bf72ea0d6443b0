import { type ErrorDetail, type Json, type ResourceKind, filterOperators } from '@parley/contracts';
import { checkFieldNames, checkTypeSchema, filterProblem } from '@parley/entities';
import { findUnclosed, hasTemplateAsFilters } from '@parley/tools';
import { triggerProblems } from '@parley/triggers';
import type { Definition } from './definition';

/**
 * An unclosed template would be sent to the model as text, and a query with a template as its
 * filters always fails.
 */
function checkPrompt({ systemPrompt: prompt }: Definition<'agents'>): ErrorDetail[] {
  const at = findUnclosed(prompt);
  if (at === null) {
    const message = 'has a query whose filters are a template: name each field';
    return hasTemplateAsFilters(prompt) ? [{ path: 'systemPrompt', message }] : [];
  }
  const line = prompt.slice(0, at).split('\n').length;
  const [excerpt] = prompt.slice(at, at + 40).split('\n');
  return [
    { path: 'systemPrompt', message: `has an unclosed template in line ${line}: ${excerpt}` },
  ];
}

/**
 * Conditions of all rules of a router, each of which may read the whole entity of a contact
 * for each message.
 */
const maxConditions = 1_000;

function checkRouter({ rules = [] }: Definition<'routers'>): ErrorDetail[] {
  if (rules.reduce((sum, { conditions }) => sum + conditions.length, 0) > maxConditions)
    return [{ path: 'rules', message: `have more than ${maxConditions} conditions` }];
  return rules.flatMap(({ conditions }, rule) =>
    conditions.flatMap(({ field, operator, value }, index) => {
      const path = `rules.${rule}.conditions.${index}`;
      const named = /^[^.]+\.[^.]+/.test(field);
      return [
        ...(named
          ? []
          : [
              {
                path: `${path}.field`,
                message: 'must be <entity type>.<field>, such as customer.tier',
              },
            ]),
        ...operandProblem(operator, value, `${path}.value`),
      ];
    }),
  );
}

function operandProblem(operator: string, value: Json, path: string): ErrorDetail[] {
  const name = operator.replace(/^\$/, '');
  if ((name === 'in' || name === 'nin') && !Array.isArray(value))
    return [{ path, message: `${operator} requires a list` }];
  if (name === 'exists' && typeof value !== 'boolean')
    return [{ path, message: `${operator} requires true or false` }];
  return [];
}

function checkTrigger(trigger: Definition<'triggers'>): ErrorDetail[] {
  const { on, schedule } = trigger;
  const problems = triggerProblems(trigger);
  if ('action' in on) {
    for (const [field, condition] of Object.entries(on.condition ?? {}))
      problems.push(...checkCondition(field, condition));
  }
  if (schedule?.delay !== undefined && schedule.at !== undefined) {
    problems.push({ path: 'schedule', message: 'accepts either delay or at, not both' });
  }
  return problems;
}

const conditionField = /^(data|previousData)\..+$|^(status|previousStatus)$/;
const operators = new Set<string>(filterOperators);

function checkCondition(field: string, condition: Json): ErrorDetail[] {
  const path = `on.condition.${field}`;
  if (!conditionField.test(field))
    return [{ path, message: 'must name data.<field>, previousData.<field> or status' }];
  if (typeof condition !== 'object' || condition === null || Array.isArray(condition)) return [];
  const keys = Object.keys(condition);
  if (!keys.some((key) => key.startsWith('$'))) return [];
  return keys.flatMap((key) =>
    operators.has(key)
      ? operandProblem(key, condition[key]!, `${path}.${key}`)
      : [
          {
            path: `${path}.${key}`,
            message: `unknown operator; use one of ${filterOperators.join(' ')}`,
          },
        ],
  );
}

/** Conditions that a query would refuse, or that can never hold. */
function checkConditionValues({ on }: Definition<'triggers'>): ErrorDetail[] {
  if (!('action' in on)) return [];
  return Object.entries(on.condition ?? {}).flatMap(([field, condition]) => {
    if (checkCondition(field, condition).length > 0) return [];
    const message = conditionProblem(field, condition);
    return message === null ? [] : [{ path: `on.condition.${field}`, message }];
  });
}

function conditionProblem(field: string, condition: Json): string | null {
  if (JSON.stringify(condition).includes('{{'))
    return 'is compared as it is: conditions have no templates';
  const bare = bareOperator(condition);
  if (bare !== undefined) return `"${bare}" is no operator. Did you mean $${bare}?`;
  const isStatus = field === 'status' || field === 'previousStatus';
  const name = isStatus ? 'data.status' : field.replace(/^previousData\./, 'data.');
  return filterProblem(name, condition);
}

/** An operator without its `$`: the condition would be compared as an object. */
function bareOperator(condition: Json): string | undefined {
  if (typeof condition !== 'object' || condition === null || Array.isArray(condition))
    return undefined;
  const keys = Object.keys(condition);
  return keys.every((key) => operators.has(`$${key}`)) ? keys[0] : undefined;
}

/**
 * Rules that stored definitions may break, because they were added later. They apply to what a push
 * adds or changes.
 */
const laterChecks: { [K in ResourceKind]?: (definition: Definition<K>) => ErrorDetail[] } = {
  entityTypes: ({ schema }) => checkFieldNames(schema),
  triggers: checkConditionValues,
};

const checks: { [K in ResourceKind]: (definition: Definition<K>) => ErrorDetail[] } = {
  entityTypes: ({ schema }) => checkTypeSchema(schema),
  roles: () => [],
  // checkParameters and checkHandlers check them outside of this thread.
  tools: () => [],
  agents: checkPrompt,
  routers: checkRouter,
  triggers: checkTrigger,
};

/**
 * The problems of one definition beyond its shape. Their paths are relative to the definition. What
 * a later rule refuses in the stored one, too, is no problem.
 */
export function checkDefinition(
  kind: ResourceKind,
  definition: Definition,
  stored?: Definition,
): ErrorDetail[] {
  const problems = (checks[kind] as (definition: Definition) => ErrorDetail[])(definition);
  const later = laterProblems(kind, definition);
  if (later.length === 0 || stored === undefined) return [...problems, ...later];
  const known = new Set(laterProblems(kind, stored).map(textOf));
  return [...problems, ...later.filter((problem) => !known.has(textOf(problem)))];
}

const textOf = ({ path, message }: ErrorDetail): string => `${path} ${message}`;

function laterProblems(kind: ResourceKind, definition: Definition): ErrorDetail[] {
  const check = laterChecks[kind] as ((definition: Definition) => ErrorDetail[]) | undefined;
  return check?.(definition) ?? [];
}
