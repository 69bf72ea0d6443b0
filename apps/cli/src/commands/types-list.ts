import { type SearchState, searchStates } from '@parley/entities';
import { type ScopeOptions, withScope } from '../scope';
import { formatTable, note, print, printJson } from '../terminal';

/** `parley types list`: prints the entity types of an environment with their search fields and reindexing. */
export async function runTypesList({ json, ...options }: ScopeOptions): Promise<void> {
  const { name, types } = await withScope(options, async (db, scope) => ({
    name: scope.name,
    types: await searchStates(db, scope),
  }));
  if (json) return printJson({ types });
  if (types.length === 0) return note(`No entity types in ${name}`);
  print(formatTable(['TYPE', 'NAME', 'SEARCH FIELDS', 'SEARCH'], types.map(toRow)));
}

const toRow = ({ slug, name, searchFields, reindexing }: SearchState): string[] => [
  slug,
  name,
  searchFields.join(', ') || '-',
  searchFields.length === 0 && reindexing === null ? '-' : stateOf(reindexing),
];

function stateOf(reindexing: SearchState['reindexing']): string {
  if (reindexing === null) return 'ready';
  if (reindexing.done === 0) return 'waiting for the worker';
  return `${Math.floor(reindexing.share * 100)} % reindexed (${reindexing.done})`;
}
