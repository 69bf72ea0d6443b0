import type { Json } from '@parley/contracts';
import type { Field, Operator } from './condition';

const isComparable = (value: Json): boolean => typeof value === 'number' || typeof value === 'string';

/** What is wrong with an operator's operand on this field; null when nothing is. Nothing is ever coerced. */
export function operandProblem(field: Field, operator: Operator, operand: Json): string | null {
  switch (operator) {
    case '$exists':
      return typeof operand === 'boolean' ? null : '$exists takes true or false';
    case '$in':
    case '$nin':
      if (!Array.isArray(operand)) return `${operator} takes an array`;
      return operand.map((item) => columnProblem(field, item)).find((problem) => problem !== null) ?? null;
    case '$gt':
    case '$gte':
    case '$lt':
    case '$lte':
      return isComparable(operand) ? columnProblem(field, operand) : `${operator} takes a number or a string`;
    case '$contains':
      if (field.kind !== 'data') return '$contains only looks into fields of data';
      return isComparable(operand) || typeof operand === 'boolean'
        ? null
        : '$contains takes a string, a number or a boolean';
    case '$eq':
    case '$ne':
      return columnProblem(field, operand);
  }
}

/** Columns have one type, so a value of another can only be a mistake. */
function columnProblem(field: Field, value: Json): string | null {
  if (field.kind === 'id' || field.kind === 'status')
    return typeof value === 'string' ? null : 'is compared with a string';
  if (field.kind === 'createdAt' || field.kind === 'updatedAt')
    return typeof value === 'number' ? null : 'is compared with a number (Unix milliseconds)';
  return null;
}
