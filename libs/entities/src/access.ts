import type { ErrorDetail, Json, JsonObject } from '@parley/contracts';
import { type Clause, type Condition, type Field, fieldName } from './filter/condition';
import { operandProblem } from './filter/operand';
import { parseOperator, parseDataPath } from './filter/parse-filters';

export interface Mask {
  /** Path of the masked field below `data`. */
  path: string[];
  kind: 'hide' | 'redact';
}

/**
 * The permissions of a role for one entity type: the entities for which all clauses hold, without
 * the masked fields.
 */
export interface Access {
  clauses: Clause[];
  masks: Mask[];
}

/**
 * A scope rule of a role (RoleDefinition in libs/contracts) in which a dynamic value has been
 * replaced by the actual one.
 */
export interface AccessRule {
  field: string;
  operator: string;
  value: Json;
  anyOf?: string;
}

export type ParsedAccess = { ok: true; access: Access } | { ok: false; problems: ErrorDetail[] };

/**
 * Parses the scope rules and masks of one type. Rules with the same `anyOf` are alternatives; all
 * others must hold.
 */
export function parseAccess(
  rules: readonly AccessRule[],
  masks: readonly { fieldPath: string; maskType: Mask['kind'] }[],
): ParsedAccess {
  const problems: ErrorDetail[] = [];
  const clauses: Clause[] = [];
  const alternatives = new Map<string, Clause>();
  rules.forEach((rule, index) => {
    const condition = parseRule(rule);
    if (typeof condition === 'string') {
      problems.push({ path: `scopeRules.${index}`, message: condition });
      return;
    }
    const clause = rule.anyOf === undefined ? undefined : alternatives.get(rule.anyOf);
    if (clause !== undefined) clause.push(condition);
    else {
      const newClause = [condition];
      clauses.push(newClause);
      if (rule.anyOf !== undefined) alternatives.set(rule.anyOf, newClause);
    }
  });
  const parsedMasks = masks.flatMap(({ fieldPath, maskType: kind }) => {
    const name = fieldPath.replace(/^data\./, '');
    // Data may have a key with dots in its name, which must not be seen either.
    const paths = name.includes('.') ? [name.split('.'), [name]] : [[name]];
    return paths.map((path) => ({ path, kind }));
  });
  return problems.length > 0
    ? { ok: false, problems }
    : { ok: true, access: { clauses, masks: parsedMasks } };
}

function parseRule({ field: name, operator: operatorName, value }: AccessRule): Condition | string {
  const field: Field | string =
    name === 'id' || name === 'status' || name === 'createdAt' || name === 'updatedAt'
      ? { kind: name }
      : parseDataPath(name.startsWith('data.') ? name : `data.${name}`);
  if (typeof field === 'string') return field;
  const operator = parseOperator(operatorName.startsWith('$') ? operatorName : `$${operatorName}`);
  if (operator === null) return `unknown operator ${operatorName}`;
  return operandProblem(field, operator, value) ?? { field, operator, operand: value };
}

/**
 * The name of a masked field among those that a query reads, or null. The result of the query would
 * reveal its value.
 */
export function maskedRead(fields: readonly Field[], masks: readonly Mask[]): string | null {
  const field = fields.find(
    (one) =>
      one.kind === 'data' &&
      masks.some(({ path }) => isPrefix(path, one.path) || isPrefix(one.path, path)),
  );
  return field === undefined ? null : fieldName(field);
}

/**
 * The name of a masked field that this data sets, or that a merge of its top-level keys would
 * overwrite; null if none.
 */
export function maskedWrite(
  data: JsonObject,
  masks: readonly Mask[],
  change: 'create' | 'merge',
): string | null {
  const mask = masks.find(({ path }) => {
    if (change === 'merge') return Object.hasOwn(data, path[0]!);
    let value: Json | undefined = data;
    for (const key of path) {
      if (Array.isArray(value)) return true;
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return false;
      value = value[key];
    }
    return true;
  });
  return mask === undefined ? null : `data.${mask.path.join('.')}`;
}

const isPrefix = (short: readonly string[], long: readonly string[]): boolean =>
  short.length <= long.length && short.every((key, index) => key === long[index]);
