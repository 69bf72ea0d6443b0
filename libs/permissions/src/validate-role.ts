import {
  type ErrorDetail,
  type Json,
  type Policy,
  type RoleDefinition,
  type ScopeRule,
  check,
  roleDefinitionSchema,
} from '@parley/contracts';
import { parseAccess } from '@parley/entities';
import { matchesName } from './policy';
import { dynamicValue, isScopeField, maskPath, operatorOf } from './scope-rule';

export interface KnownNames {
  entityTypes: ReadonlySet<string>;
  /** Tools that are resources: custom tools, and built-in tools except those of entities. */
  tools: ReadonlySet<string>;
}

/**
 * The problems of a role, each with its path such as `scopeRules.0.operator`; empty when the
 * role is valid. Rules that would silently match nothing or everything are problems too, so that
 * push refuses them.
 */
export function validateRole(definition: unknown, known: KnownNames): ErrorDetail[] {
  const checked = check(roleDefinitionSchema, definition);
  if (!checked.ok) return checked.problems;
  const { policies, scopeRules = [], fieldMasks = [] } = checked.value;
  return [
    ...policies.flatMap((policy, index) => at(`policies.${index}`, policyProblems(policy, known))),
    ...scopeRules.flatMap((rule, index) =>
      at(`scopeRules.${index}`, scopeRuleProblems(rule, known)),
    ),
    ...fieldMasks.flatMap((mask, index) => at(`fieldMasks.${index}`, maskProblems(mask, known))),
  ];
}

function policyProblems({ resource, actions }: Policy, names: KnownNames): ErrorDetail[] {
  if (resource === '*') return [];
  if (names.entityTypes.has(resource)) {
    const forTools = actions.find((action) => action === 'execute' || action === 'reach');
    return forTools === undefined
      ? []
      : [
          {
            path: 'actions',
            message: `"${forTools}" is for tools; "${resource}" is an entity type`,
          },
        ];
  }
  if (resource.startsWith('entity.')) {
    return [
      {
        path: 'resource',
        message: `tools of "entity.*" are permitted by the entity type they work on`,
      },
    ];
  }
  // `mcp.crm.*` matches all tools of the server, which may be unknown.
  const isMatched = (tool: string) =>
    matchesName(resource, tool) || (tool.startsWith('mcp.') && matchesName(tool, resource));
  if (![...names.tools].some(isMatched)) {
    return [{ path: 'resource', message: `"${resource}" is neither an entity type nor a tool` }];
  }
  const known = ['execute', '*', ...(/^(whatsapp|email)\./.test(resource) ? ['reach'] : [])];
  const invalid = actions.filter((action) => !known.includes(action));
  return invalid.length === 0
    ? []
    : [{ path: 'actions', message: `tools only know "execute", not "${invalid.join('", "')}"` }];
}

function scopeRuleProblems(rule: ScopeRule, known: KnownNames): ErrorDetail[] {
  const problems = unknownType(rule.entityType, known);
  if (!isScopeField(rule.field)) {
    problems.push({
      path: 'field',
      message: 'must be id, status, createdAt, updatedAt or data.<field>, without empty names',
    });
  }
  return [...problems, ...valueProblems(rule, known)];
}

function valueProblems(
  { field, operator: written, value }: ScopeRule,
  known: KnownNames,
): ErrorDetail[] {
  const operator = operatorOf(written);
  const problem = (message: string): ErrorDetail[] => [{ path: 'value', message }];
  for (const item of Array.isArray(value) ? value : [value]) {
    const dynamic = dynamicValue(item as Json);
    if (dynamic === null) continue;
    if (dynamic === 'unknown') {
      return problem(
        `"${item}" is not known; use actor.userId, actor.entityId or actor.relatedIds:<entity type>`,
      );
    }
    if (dynamic.kind === 'relatedIds' && !known.entityTypes.has(dynamic.entityType)) {
      return problem(`"${item}" names "${dynamic.entityType}", which is not an entity type`);
    }
    if (dynamic.kind === 'relatedIds' && !['$eq', '$ne', '$in', '$nin'].includes(operator)) {
      return problem(`"${item}" is a list: use it with in or nin`);
    }
  }
  // `parseAccess`, which applies rules, checks the operand for the operator and the field.
  const sample = (item: Json): Json => (dynamicValue(item) === null ? item : 'id');
  const isDynamicList =
    (operator === '$in' || operator === '$nin') && dynamicValue(value as Json) !== null;
  const operand = Array.isArray(value)
    ? value.map((item) => sample(item as Json))
    : sample(value as Json);
  const parsed = parseAccess(
    [
      {
        field: isScopeField(field) ? field : 'data.x',
        operator,
        value: isDynamicList ? [operand] : operand,
      },
    ],
    [],
  );
  return parsed.ok ? [] : parsed.problems.flatMap(({ message }) => problem(message));
}

function maskProblems(
  mask: NonNullable<RoleDefinition['fieldMasks']>[number],
  known: KnownNames,
): ErrorDetail[] {
  const problems = unknownType(mask.entityType, known);
  if (maskPath(mask.fieldPath).split('.').includes('')) {
    problems.push({
      path: 'fieldPath',
      message: 'must be names joined by dots, such as "address.street"',
    });
  }
  return problems;
}

const unknownType = (slug: string, known: KnownNames): ErrorDetail[] =>
  known.entityTypes.has(slug)
    ? []
    : [{ path: 'entityType', message: `"${slug}" is not an entity type` }];

const at = (prefix: string, problems: ErrorDetail[]): ErrorDetail[] =>
  problems.map(({ path, message }) => ({ path: `${prefix}.${path}`, message }));
