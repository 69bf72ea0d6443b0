import type { JsonObject, Scope } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import { type Access, maskedFieldIn } from '../access';
import { parseFilters, parseSortField } from '../filter/parse-filters';
import { type MaskedField, invalid } from '../result';
import type { Direction } from './scan-sql';
import { type PageInput, type PageResult, listPage } from './list-page';
import { sortedPage } from './sorted-page';

export interface QueryInput extends PageInput {
  filters?: JsonObject;
  /** Filters of which one must hold, besides all of `filters`. Not part of the HTTP interface. */
  anyOf?: JsonObject;
  sort?: { field: string; direction?: Direction };
  access?: Access;
}

/**
 * Entities of a type that match all filters, newest first or as `sort` says (interface.md, query; decisions.md, Data
 * API). Sorted by a field of `data`: null, false, true, numbers, strings by code point (their first 100 bytes count),
 * objects and arrays, and entities without the field last in both directions; equals by creation, in the direction
 * of the sort.
 */
export async function queryEntities(db: Queryable, scope: Scope, input: QueryInput): Promise<PageResult | MaskedField> {
  const parsed = parseFilters(input.filters);
  const anyOf = parseFilters(input.anyOf);
  const problems = [parsed, anyOf].flatMap((one) => (one.ok ? [] : one.problems));
  const sortField = parseSortField(input.sort?.field ?? 'createdAt');
  if (typeof sortField === 'string') problems.push(...invalid('sort.field', sortField).problems);
  if (!parsed.ok || !anyOf.ok || typeof sortField === 'string') return { ok: false, reason: 'invalid', problems };

  const clauses = input.anyOf === undefined ? parsed.clauses : [...parsed.clauses, anyOf.clauses.flat()];
  const asked = [...clauses.flat().map(({ field }) => field), sortField];
  const masked = maskedFieldIn(asked, input.access?.masks ?? []);
  if (masked !== null) return { ok: false, reason: 'masked_field', field: masked };

  const { type, status, filters = {}, anyOf: alternatives, sort } = input;
  const direction = sort?.direction ?? 'desc';
  const inCreationOrder = sortField.kind === 'id' || sortField.kind === 'createdAt';
  const order = inCreationOrder && direction === 'desc' ? null : [sort?.field, direction];
  const query = JSON.stringify([
    scope.organizationId,
    scope.environment,
    type,
    status ?? null,
    filters,
    order,
    alternatives,
  ]);
  const page = { ...input, clauses, query, direction };
  return inCreationOrder ? listPage(db, scope, page) : sortedPage(db, scope, { ...page, field: sortField });
}
