// Lists and queries: parse (`filter/parse-filters`) → plan (`plan-query`) → SQL (`query-sql`) → run
// (`run-query`) → page (`page-text`). docs/adr/0003-field-indexes.md shows an example of each step.
import { type JsonObject, type Scope, canonicalJson } from '@parley/contracts';
import { type Queryable, decodeCursor, encodeCursor } from '@parley/db';
import { type Access, maskedRead } from '../access';
import { type Clause, statusClauses } from '../filter/condition';
import { parseFilters, parseSortField } from '../filter/parse-filters';
import { type Invalid, type MaskedField, type TypeNotFound, invalid } from '../result';
import { unstorableName } from '../storable';
import { positionOf, startOf } from './cursor';
import { maxPageBytes } from './entity-json';
import { PageText } from './page-text';
import { type Direction, type SortField, planQuery } from './plan-query';
import { countMatches, maxExactCount, runQuery } from './run-query';

export interface PageInput {
  type: string;
  /** A lifecycle status. By default every status but `deleted`. */
  status?: string;
  limit: number;
  /** Maximum size of the page as JSON, with at least one entity. Default: 8 MiB. */
  maxBytes?: number;
  cursor?: string;
  /**
   * Adds the number of all matching entities to the page. `estimated` is exact up to
   * 10,000 entities.
   */
  count?: 'exact' | 'estimated';
}

export type PageResult = { ok: true; page: PageText } | TypeNotFound | Invalid;

export interface QueryInput extends PageInput {
  filters?: JsonObject;
  /**
   * Alternative filters: one of them must hold in addition to all of `filters`. Not
   * available over HTTP.
   */
  anyOf?: JsonObject;
  sort?: { field: string; direction?: Direction };
  access?: Access;
}

/** Returns a page of the entities of a type, newest first (docs/reference/data.md#list). */
export function listEntities(
  db: Queryable,
  scope: Scope,
  input: PageInput & { access?: Access },
): Promise<PageResult> {
  return readPage(db, scope, input, {
    clauses: [],
    sort: null,
    direction: 'desc',
    identity: [{}, null],
  });
}

/**
 * Returns a page of the entities that match all filters, newest first or sorted
 * (docs/reference/data.md#query). Values of a field of `data` sort as null, false, true, numbers,
 * strings by the code points of their first 100 bytes, objects and arrays. Entities without the
 * field are last in both directions. Entities with equal values are in the order of creation, in
 * the direction of the sort.
 */
export async function queryEntities(
  db: Queryable,
  scope: Scope,
  input: QueryInput,
): Promise<PageResult | MaskedField> {
  const parsed = parseFilters(input.filters);
  const anyOf = parseFilters(input.anyOf);
  const problems = [parsed, anyOf].flatMap((result) => (result.ok ? [] : result.problems));
  const field = parseSortField(input.sort?.field ?? 'createdAt');
  if (typeof field === 'string') problems.push(...invalid('sort.field', field).problems);
  if (!parsed.ok || !anyOf.ok || typeof field === 'string')
    return { ok: false, reason: 'invalid', problems };

  const clauses =
    input.anyOf === undefined ? parsed.clauses : [...parsed.clauses, anyOf.clauses.flat()];
  const fieldsRead = [...clauses.flat().map((condition) => condition.field), field];
  const masked = maskedRead(fieldsRead, input.access?.masks ?? []);
  if (masked !== null) return { ok: false, reason: 'masked_field', field: masked };

  const sort = field.kind === 'id' || field.kind === 'createdAt' ? null : field;
  const direction = input.sort?.direction ?? 'desc';
  const order = sort === null && direction === 'desc' ? null : [input.sort?.field, direction];
  return readPage(db, scope, input, {
    clauses,
    sort,
    direction,
    identity: [input.filters ?? {}, order, input.anyOf],
  });
}

interface Selection {
  clauses: readonly Clause[];
  sort: SortField | null;
  direction: Direction;
  /**
   * Identifies the query, with the scope, the type and the status. A cursor is valid only
   * for the same query.
   */
  identity: readonly unknown[];
}

async function readPage(
  db: Queryable,
  scope: Scope,
  input: PageInput & { access?: Access },
  { identity, ...selection }: Selection,
): Promise<PageResult> {
  const unstorable = unstorableName(input);
  if (unstorable !== null) return unstorable;
  const { type, status, limit, maxBytes = maxPageBytes, cursor = '', access } = input;
  const query = canonicalJson([
    scope.organizationId,
    scope.environment,
    type,
    status ?? null,
    ...identity,
  ]);
  const isSorted = selection.sort !== null;
  const after = cursor === '' ? null : startOf(decodeCursor(query, cursor), isSorted);
  if (cursor !== '' && after === null)
    return invalid('cursor', 'cursor is broken or belongs to another query');
  const request = {
    ...selection,
    scope,
    type,
    deleted: status === 'deleted',
    clauses: [...selection.clauses, ...statusClauses(status), ...(access?.clauses ?? [])],
    masks: access?.masks ?? [],
    after,
    limit,
    maxBytes,
  };
  const page = await runQuery(db, planQuery(request));
  if (page === null) return { ok: false, reason: 'type_not_found' };
  const next = page.last === null ? cursor : encodeCursor(query, positionOf(page.last, isSorted));
  const total =
    input.count &&
    (await countMatches(db, planQuery({ ...request, sort: null, after: null }), input.count));
  if (total === null)
    return invalid('count', `more than ${maxExactCount} entities match: use "estimated"`);
  return { ok: true, page: new PageText(page.itemsJson, next, page.hasMore, total) };
}
