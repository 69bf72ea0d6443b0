// Step 3 of a query (parse → plan → SQL → run → page): the SQL condition that each entity is
// checked against.
import type { Json } from '@parley/contracts';
import type { Clause, Condition } from './condition';
import type { Sql } from '../sql';

/** The SQL expressions for the fields of an entity. */
export interface EntitySql {
  id: string;
  status: string;
  createdAt: string;
  updatedAt: string;
  data: string;
}

export const storedEntity = (alias: string): EntitySql => ({
  id: `${alias}.id`,
  status: `${alias}.status`,
  createdAt: `${alias}.created_at`,
  updatedAt: `${alias}.updated_at`,
  data: `${alias}.data`,
});

/**
 * Clauses as one SQL condition on an entity. It is exact, while index entries may find too many
 * entities. Operands and paths are parameters.
 */
export function filterSql(clauses: readonly Clause[], entity: EntitySql, sql: Sql): string {
  if (clauses.length === 0) return 'true';
  return clauses
    .map(
      (clause) =>
        `(${clause.map((condition) => conditionSql(condition, entity, sql)).join(' or ') || 'false'})`,
    )
    .join(' and ');
}

function conditionSql(condition: Condition, entity: EntitySql, sql: Sql): string {
  const { field } = condition;
  switch (field.kind) {
    case 'data':
      return jsonCondition(condition, dataPathSql(entity.data, field.path, sql), sql);
    case 'id':
    case 'status':
      return columnCondition(condition, `${entity[field.kind]} collate "C"`, 'text', sql);
    case 'createdAt':
    case 'updatedAt':
      return columnCondition(condition, entity[field.kind], 'numeric', sql);
  }
}

const comparison = { $gt: '>', $gte: '>=', $lt: '<', $lte: '<=' } as const;

/**
 * SQL of the value at a path below `data`; null if it is absent. A path leads through objects,
 * not into arrays.
 */
export const dataPathSql = (data: string, path: readonly string[], sql: Sql): string =>
  `(${data}${path.map((key) => ` -> ${sql.param(key, 'text')}`).join('')})`;

function columnCondition(
  { operator, operand }: Condition,
  column: string,
  type: string,
  sql: Sql,
): string {
  switch (operator) {
    case '$eq':
      return `${column} = ${sql.param(operand, type)}`;
    case '$ne':
      return `${column} <> ${sql.param(operand, type)}`;
    case '$in':
      return `${column} = any(${sql.param(operand, `${type}[]`)})`;
    case '$nin':
      return `${column} <> all(${sql.param(operand, `${type}[]`)})`;
    case '$exists':
      return sql.param(operand, 'boolean');
    case '$gt':
    case '$gte':
    case '$lt':
    case '$lte':
      return `${column} ${comparison[operator]} ${sql.param(operand, type)}`;
    case '$contains':
      throw new Error('$contains does not apply to a column: parseFilters refuses it');
  }
}

function jsonCondition({ operator, operand }: Condition, value: string, sql: Sql): string {
  switch (operator) {
    case '$eq':
      return equalsSql(operand, value, sql);
    case '$ne':
      return `not ${equalsSql(operand, value, sql)}`;
    case '$in':
      return listSql(operand as Json[], value, sql);
    case '$nin':
      return `not ${listSql(operand as Json[], value, sql)}`;
    case '$exists':
      return operand === true ? `${value} is not null` : `${value} is null`;
    case '$contains':
      return containsSql(operand, value, sql);
    case '$gt':
    case '$gte':
    case '$lt':
    case '$lte':
      // `case` guarantees that the cast is evaluated only for values of this type; it
      // fails for others.
      return typeof operand === 'number'
        ? `(case when jsonb_typeof(${value}) = 'number' then ${value}::numeric ${comparison[operator]} ${sql.param(operand, 'numeric')} else false end)`
        : `(case when jsonb_typeof(${value}) = 'string' then (${value} #>> '{}') collate "C" ${comparison[operator]} ${sql.param(operand, 'text')} else false end)`;
  }
}

const equalsSql = (operand: Json, value: string, sql: Sql): string =>
  operand === null
    ? isNullSql(value)
    : `coalesce(${value} = ${sql.param(JSON.stringify(operand), 'jsonb')}, false)`;

const isNullSql = (value: string): string => `(${value} is null or ${value} = 'null')`;

function listSql(operands: Json[], value: string, sql: Sql): string {
  const texts = operands.filter((item) => item !== null).map((item) => JSON.stringify(item));
  const listed = `coalesce(${value} = any(${sql.param(texts, 'jsonb[]')}), false)`;
  return texts.length < operands.length ? `(${listed} or ${isNullSql(value)})` : listed;
}

/**
 * True for an array that has the operand as an element, and for a string that has it
 * as a substring.
 */
function containsSql(operand: Json, value: string, sql: Sql): string {
  const element = `when 'array' then ${value} @> jsonb_build_array(${sql.param(JSON.stringify(operand), 'jsonb')})`;
  const substring =
    typeof operand === 'string'
      ? `when 'string' then strpos(${value} #>> '{}', ${sql.param(operand, 'text')}) > 0`
      : '';
  return `(case jsonb_typeof(${value}) ${element} ${substring} else false end)`;
}
