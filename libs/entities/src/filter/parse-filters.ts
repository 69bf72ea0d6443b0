import {
  type ErrorDetail,
  type FilterOperator,
  type Json,
  type JsonObject,
  filterOperators,
  findUnstorable,
} from '@parley/contracts';
import { type Clause, type Condition, type Field, type Operator, equals } from './condition';
import { operandProblem } from './operand';

const maxConditions = 50;
const maxListValues = 1_000;
/** Names in a path below `data`; deeper fields are stored and cannot be asked for. */
export const maxPathLength = 16;

const columns = ['id', 'createdAt', 'updatedAt'] as const;
const queryable = `Queryable top-level fields: ${columns.join(', ')}. Use data.<fieldName> for the entity's own fields`;

type QueryField = Exclude<Field, { kind: 'status' }>;
type DataField = Extract<Field, { kind: 'data' }>;

export type ParsedFilters = { ok: true; clauses: Clause[] } | { ok: false; problems: ErrorDetail[] };

/** Untrusted `filters` of a query body to clauses that must all hold, or every problem found (interface.md, query). */
export function parseFilters(filters: JsonObject | undefined): ParsedFilters {
  const problems: ErrorDetail[] = [];
  const conditions: Condition[] = [];
  for (const [name, wanted] of Object.entries(filters ?? {})) {
    const path = `filters.${name}`;
    const field = parseField(name);
    if (typeof field === 'string') {
      problems.push({ path, message: field });
      continue;
    }
    const parsed = parseWanted(field, wanted);
    if (typeof parsed === 'string') problems.push({ path, message: parsed });
    else conditions.push(...parsed);
  }
  const unstorable = findUnstorable(filters ?? {});
  if (unstorable) problems.push({ path: `filters.${unstorable.path}`, message: unstorable.message });
  if (conditions.length > maxConditions)
    problems.push({ path: 'filters', message: `at most ${maxConditions} conditions are allowed` });
  const listed = conditions.reduce((sum, { operand }) => sum + (Array.isArray(operand) ? operand.length : 0), 0);
  if (listed > maxListValues)
    problems.push({ path: 'filters', message: `at most ${maxListValues} values in lists are allowed` });
  return problems.length > 0 ? { ok: false, problems } : { ok: true, clauses: conditions.map((one) => [one]) };
}

/** A field of a filter, or what is wrong with it. */
function parseField(name: string): QueryField | string {
  if (name === 'id' || name === 'createdAt' || name === 'updatedAt') return { kind: name };
  if (name === 'status')
    return 'targets the lifecycle column: use data.status for a domain status, or the status field of the body, outside filters, for the lifecycle status';
  if (!name.startsWith('data.')) return `is no field that can be filtered by. ${queryable}`;
  return parseDataPath(name);
}

/** `data.a.b` to its keys, or what is wrong with it. */
export function parseDataPath(name: string): DataField | string {
  const path = name.slice('data.'.length).split('.');
  if (path.some((key) => key === '')) return 'a path has a name between its dots';
  if (path.length > maxPathLength) return `at most ${maxPathLength} levels are allowed`;
  return { kind: 'data', path };
}

/** A field to sort by, the same as in filters; or what is wrong with it. */
export const parseSortField = (name: string): QueryField | string => {
  const field = name === 'status' ? `is no field that can be sorted by. ${queryable}` : parseField(name);
  return typeof field === 'string' ? `"${name}": ${field.replace('filtered by', 'sorted by')}` : field;
};

function parseWanted(field: Field, wanted: Json): Condition[] | string {
  const keys = isObject(wanted) ? Object.keys(wanted) : [];
  const operators = keys.filter((key) => key.startsWith('$'));
  if (!isObject(wanted) || (keys.length > 0 && operators.length === 0)) {
    return operandProblem(field, '$eq', wanted) ?? [equals(field, wanted)];
  }
  if (keys.length === 0) return 'an operator object is empty (use {"$eq": {}} to match an empty object)';
  if (operators.length < keys.length) {
    const literals = keys.filter((key) => !key.startsWith('$'));
    return `operators (${operators.join(', ')}) and plain keys (${literals.join(', ')}) cannot be mixed`;
  }
  const conditions: Condition[] = [];
  for (const written of operators) {
    const operator = knownOperator(written);
    if (operator === null) return `unknown operator ${written}. Operators: ${filterOperators.join(' ')}`;
    const operand = wanted[written] as Json;
    const problem = operandProblem(field, operator, operand);
    if (problem !== null) return problem;
    conditions.push({ field, operator, operand });
  }
  return conditions;
}

/** `$neq` is `$ne`. */
export function knownOperator(written: string): Operator | null {
  if (!filterOperators.includes(written as FilterOperator)) return null;
  return written === '$neq' ? '$ne' : (written as Operator);
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
