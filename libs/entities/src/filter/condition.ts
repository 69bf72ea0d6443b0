import { type FilterOperator, type Json } from '@parley/contracts';

export type Operator = Exclude<FilterOperator, '$neq'>;

/** Columns that a filter may name, and a path below `data`. `status` is only for the body's own field and scope rules. */
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

/** Conditions of which one must hold; a filter is a list of clauses that must all hold. */
export type Clause = Condition[];

/** How a field is written by people. */
export const fieldName = (field: Field): string =>
  field.kind === 'data' ? `data.${field.path.join('.')}` : field.kind;

export const equals = (field: Field, operand: Json): Condition => ({ field, operator: '$eq', operand });

/** `deleted` chooses a part of the index, any other status is a condition like those on fields. */
export const statusClauses = (status: string | undefined): Clause[] =>
  status === undefined || status === 'deleted' ? [] : [[equals({ kind: 'status' }, status)]];
