import { withClient } from '../data/client';
import { formatEntities } from '../data/format-entities';
import { parsePageLimit } from '../data/input';
import { note, print, printJson } from '../terminal';

export interface DataSearchOptions {
  limit?: string;
  status?: string;
  json?: boolean;
}

/** `parley data search <type> <words…>`: prints matching entities, best matches first. */
export async function runDataSearch(
  type: string,
  words: string[],
  { limit, status, json }: DataSearchOptions,
): Promise<void> {
  const input = { query: words.join(' '), limit: parsePageLimit(limit), status };
  const found = await withClient((client) => client.data.search(type, input));
  if (json) return printJson(found);
  if (found.data.length === 0) return note('No entities match');
  print(formatEntities(found.data));
}
