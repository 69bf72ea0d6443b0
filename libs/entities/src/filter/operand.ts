import type { Json } from '@parley/contracts';
import type { Field, Operator } from './condition';

const isComparable = (value: Json): boolean =>
  typeof value === 'number' || typeof value === 'string';

/**
 * The problem with an operator's operand on this field; null if there is none. Operands
 * are never coerced.
 */
export function operandProblem(field: Field, operator: Operator, operand: Json): string | null {
  switch (operator) {
    case '$exists':
      return typeof operand === 'boolean' ? null : '$exists takes true or false';
    case '$in':
    case '$nin':
      if (!Array.isArray(operand)) return `${operator} takes an array`;
      return (
        operand.map((item) => columnProblem(field, item)).find((problem) => problem !== null) ??
        null
      );
    case '$gt':
    case '$gte':
    case '$lt':
    case '$lte':
      return isComparable(operand)
        ? columnProblem(field, operand)
        : `${operator} takes a number or a string`;
    case '$contains':
      if (field.kind !== 'data') return '$contains applies only to fields of data';
      return isComparable(operand) || typeof operand === 'boolean'
        ? null
        : '$contains takes a string, a number or a boolean';
    case '$eq':
    case '$ne':
      return columnProblem(field, operand);
  }
}

/** A column has one type, so an operand of another type is a mistake. */
function columnProblem(field: Field, value: Json): string | null {
  if (field.kind === 'id' || field.kind === 'status')
    return typeof value === 'string' ? null : 'must be compared with a string';
  if (field.kind === 'createdAt' || field.kind === 'updatedAt')
    return typeof value === 'number' ? null : 'must be compared with a number (Unix milliseconds)';
  return null;
}
