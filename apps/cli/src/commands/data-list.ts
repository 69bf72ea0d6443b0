import type { EntityPage } from '@parley/contracts';
import { withClient } from '../data/client';
import { formatEntities } from '../data/format-entities';
import { parsePageLimit } from '../data/input';
import { note, print, printJson } from '../terminal';

export interface DataListOptions {
  limit?: string;
  cursor?: string;
  status?: string;
  json?: boolean;
}

/** `parley data list <type>`: prints a page of entities, newest first. */
export async function runDataList(
  type: string,
  { limit, cursor, status, json }: DataListOptions,
): Promise<void> {
  const input = { limit: parsePageLimit(limit), cursor, status };
  showPage(await withClient((client) => client.data.list(type, input)), json);
}

export function showPage(page: EntityPage, json: boolean | undefined): void {
  if (json) return printJson(page);
  if (page.data.length === 0) return note('No entities');
  print(formatEntities(page.data));
  if (page.hasMore) note(`Next page: --cursor ${page.cursor}`);
}
