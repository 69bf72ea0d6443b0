import { type FilterOperator, type Json } from '@parley/contracts';

export type Operator = Exclude<FilterOperator, '$neq'>;

/**
 * A column, or a path below `data`. `status` cannot be used in `filters`, only in the body's
 * `status` and in scope rules.
 */
export type Field =
  | { kind: 'id' }
  | { kind: 'status' }
  | { kind: 'createdAt' }
  | { kind: 'updatedAt' }
  | { kind: 'data'; path: string[] };

export interface Condition {
  field: Field;
  operator: Operator;
  operand: Json;
}

/**
 * Alternative conditions, one of which must hold. A filter is a list of clauses that must all hold.
 */
export type Clause = Condition[];

/** The name of a field in the API. */
export const fieldName = (field: Field): string =>
  field.kind === 'data' ? `data.${field.path.join('.')}` : field.kind;

export const equals = (field: Field, operand: Json): Condition => ({
  field,
  operator: '$eq',
  operand,
});

/**
 * The clauses for a lifecycle status. `deleted` has none, because deleted entities
 * have their own part.
 */
export const statusClauses = (status: string | undefined): Clause[] =>
  status === undefined || status === 'deleted' ? [] : [[equals({ kind: 'status' }, status)]];
