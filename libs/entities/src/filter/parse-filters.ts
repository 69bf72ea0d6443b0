// Step 1 of a query (parse → plan → SQL → run → page): parses the filters and the
// sort of a request.
import {
  type ErrorDetail,
  type FilterOperator,
  type Json,
  type JsonObject,
  filterOperators,
  findUnstorable,
} from '@parley/contracts';
import { type Clause, type Condition, type Field, type Operator, equals } from './condition';
import { maxProblems } from '../result';
import { operandProblem } from './operand';

const maxConditions = 50;
/** Maximum number of values in all lists of `$in` and `$nin` together. */
const maxListValues = 1_000;
/**
 * Maximum number of names in a path below `data`. Deeper fields are stored but cannot be queried.
 */
export const maxPathLength = 16;

const columns = ['id', 'createdAt', 'updatedAt'] as const;
const queryable = `Queryable top-level fields: ${columns.join(', ')}. Use data.<fieldName> for the entity's own fields`;

type QueryField = Exclude<Field, { kind: 'status' }>;
type DataField = Extract<Field, { kind: 'data' }>;

export type ParsedFilters =
  { ok: true; clauses: Clause[] } | { ok: false; problems: ErrorDetail[] };

/**
 * Parses the untrusted `filters` of a request (docs/reference/data.md#filters) to clauses that must
 * all hold, or returns their problems, about 100 at most.
 */
export function parseFilters(filters: JsonObject | undefined): ParsedFilters {
  const problems: ErrorDetail[] = [];
  const conditions: Condition[] = [];
  for (const [name, value] of Object.entries(filters ?? {})) {
    if (problems.length >= maxProblems || conditions.length > maxConditions) break;
    const path = `filters.${name}`;
    const field = parseField(name);
    if (typeof field === 'string') {
      problems.push({ path, message: field });
      continue;
    }
    const parsed = parseFilterValue(field, value);
    if (typeof parsed === 'string') problems.push({ path, message: parsed });
    else conditions.push(...parsed);
  }
  const unstorable = findUnstorable(filters ?? {});
  if (unstorable)
    problems.push({ path: `filters.${unstorable.path}`, message: unstorable.message });
  if (conditions.length > maxConditions)
    problems.push({ path: 'filters', message: `at most ${maxConditions} conditions are allowed` });
  const listed = conditions.reduce(
    (sum, { operand }) => sum + (Array.isArray(operand) ? operand.length : 0),
    0,
  );
  if (listed > maxListValues)
    problems.push({
      path: 'filters',
      message: `at most ${maxListValues} values in lists are allowed`,
    });
  return problems.length > 0
    ? { ok: false, problems }
    : { ok: true, clauses: conditions.map((item) => [item]) };
}

/** What is wrong with one filter; null when a query accepts it. */
export function filterProblem(name: string, value: Json): string | null {
  const field = parseField(name);
  if (typeof field === 'string') return field;
  const parsed = parseFilterValue(field, value);
  return typeof parsed === 'string' ? parsed : null;
}

/** The field of a filter, or the problem with its name. */
function parseField(name: string): QueryField | string {
  if (name === 'id' || name === 'createdAt' || name === 'updatedAt') return { kind: name };
  if (name === 'status')
    return 'targets the lifecycle column: use data.status for a domain status, or the status field of the body, outside filters, for the lifecycle status';
  if (!name.startsWith('data.')) return `is not a filterable field. ${queryable}`;
  return parseDataPath(name);
}

/** Parses `data.a.b` to a path, or returns the problem. */
export function parseDataPath(name: string): DataField | string {
  const path = name.slice('data.'.length).split('.');
  if (path.some((key) => key === '')) return 'a path must have a name between its dots';
  if (path.length > maxPathLength) return `at most ${maxPathLength} levels are allowed`;
  return { kind: 'data', path };
}

/**
 * Parses a field to sort by, which may be any field that filters accept, or returns the problem.
 */
export const parseSortField = (name: string): QueryField | string => {
  const field = name === 'status' ? `is not a sortable field. ${queryable}` : parseField(name);
  return typeof field === 'string'
    ? `"${name}": ${field.replace('filterable', 'sortable')}`
    : field;
};

function parseFilterValue(field: Field, value: Json): Condition[] | string {
  const keys = isObject(value) ? Object.keys(value) : [];
  const operators = keys.filter((key) => key.startsWith('$'));
  if (!isObject(value) || (keys.length > 0 && operators.length === 0)) {
    return operandProblem(field, '$eq', value) ?? [equals(field, value)];
  }
  if (keys.length === 0)
    return 'an operator object is empty (use {"$eq": {}} to match an empty object)';
  if (operators.length < keys.length) {
    const literals = keys.filter((key) => !key.startsWith('$'));
    return `operators (${operators.join(', ')}) and plain keys (${literals.join(', ')}) cannot be mixed`;
  }
  const conditions: Condition[] = [];
  for (const key of operators) {
    const operator = parseOperator(key);
    if (operator === null)
      return `unknown operator ${key}. Operators: ${filterOperators.join(' ')}`;
    const operand = value[key] as Json;
    const problem = operandProblem(field, operator, operand);
    if (problem !== null) return problem;
    conditions.push({ field, operator, operand });
  }
  return conditions;
}

/** The operator with this name; null if there is none. `$neq` is a synonym of `$ne`. */
export function parseOperator(name: string): Operator | null {
  if (!filterOperators.includes(name as FilterOperator)) return null;
  return name === '$neq' ? '$ne' : (name as Operator);
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
