import { type KeyOptions, withManage } from '../manage';
import { formatTable, note, print, printJson } from '../terminal';

interface SearchIndex {
  entityType: string;
  name: string;
  searchFields: string[];
  reindexing: { done: number; share: number } | null;
}

/**
 * `parley types list`: prints the entity types of an environment with their search
 * fields and reindexing.
 */
export async function runTypesList({ json, ...options }: KeyOptions): Promise<void> {
  const { data } = await withManage(options, (manage) => manage.listSearchIndexes());
  if (json) return printJson({ data });
  if (data.length === 0) return note('No entity types');
  print(formatTable(['TYPE', 'NAME', 'SEARCH FIELDS', 'SEARCH'], data.map(toRow)));
}

const toRow = ({ entityType, name, searchFields, reindexing }: SearchIndex): string[] => [
  entityType,
  name,
  searchFields.join(', ') || '-',
  searchFields.length === 0 && reindexing === null ? '-' : stateOf(reindexing),
];

function stateOf(reindexing: SearchIndex['reindexing']): string {
  if (reindexing === null) return 'ready';
  if (reindexing.done === 0) return 'waiting for the worker';
  return `${Math.floor(reindexing.share * 100)} % reindexed (${reindexing.done})`;
}
