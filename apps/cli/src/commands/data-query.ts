import { withClient } from '../data/client';
import { parseObject, parsePageLimit } from '../data/input';
import { usageFailure } from '../failure';
import { type DataListOptions, showPage } from './data-list';

export interface DataQueryOptions extends DataListOptions {
  sort?: string;
}

/**
 * `parley data query <type> [filters]`: prints a page of matching entities
 * (docs/reference/data.md#filters).
 */
export async function runDataQuery(
  type: string,
  filters: string | undefined,
  { limit, cursor, status, sort, json }: DataQueryOptions,
): Promise<void> {
  const input = {
    filters: filters === undefined ? undefined : await parseObject(filters, 'filters'),
    limit: parsePageLimit(limit),
    cursor,
    status,
    sort: sort === undefined ? undefined : parseSort(sort),
  };
  showPage(await withClient((client) => client.data.query(type, input as object)), json);
}

/** Parses `data.price` or `data.price:asc`. */
function parseSort(text: string): { field: string; direction: 'asc' | 'desc' } {
  const [, sorted, direction = 'desc', alone] = /^(.+):(asc|desc)$|^([^:]+)$/.exec(text) ?? [];
  const field = sorted ?? alone;
  if (field === undefined)
    throw usageFailure(`--sort must be a field such as data.price:asc, not "${text}"`);
  return { field, direction: direction as 'asc' | 'desc' };
}
