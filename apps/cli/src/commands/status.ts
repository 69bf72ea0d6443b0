import { type SyncResult, type SyncState, resourceKinds } from '@parley/contracts';
import { createApi } from '../api';
import { countOf, isEmpty, namesOfRefused } from '../push/format-changes';
import { folders, hasDefinitions } from '../push/load-folder';
import { previewPush } from '../push/preview';
import { formatFields, formatTable, print, printJson } from '../terminal';

/** `parley status [folder]`: where the key leads, what is there, and whether the folder says the same. */
export async function runStatus(folder: string, { json }: { json?: boolean }): Promise<void> {
  const api = createApi();
  const { environment, version, resources } = await api.post<SyncState>('/v1/sync/state', {});
  const result = hasDefinitions(folder) ? (await previewPush(api, folder, true)).result : null;
  const local = result === null ? 'no definitions here' : describeDifference(result);
  if (json) {
    const counts = Object.fromEntries(resourceKinds.map((kind) => [kind, resources[kind].length]));
    return printJson({ url: api.url, environment, version, counts, local: result?.results ?? null });
  }
  print(formatFields({ address: api.url, environment, version: String(version), folder: local }));
  print();
  print(
    formatTable(
      ['KIND', 'COUNT', ''],
      resourceKinds.map((kind) => [
        folders[kind],
        String(resources[kind].length),
        resources[kind].map(({ slug }) => slug).join(', '),
      ]),
    ),
  );
}

/** As seen from the folder: nobody has said yet which of the two is to follow the other. */
function describeDifference(result: SyncResult): string {
  const { results } = result;
  const refused = namesOfRefused(results);
  if (isEmpty(result) && refused.length === 0) return 'the same';
  const parts = [
    [countOf(results, 'created'), 'only in the folder'],
    [countOf(results, 'updated'), 'differ'],
    [countOf(results, 'deleted'), 'only in the environment'],
  ] as const;
  const told = parts.flatMap(([count, what]) => (count === 0 ? [] : `${count} ${what}`));
  if (refused.length > 0)
    told.push(`${refused.length} there only that --prune would not delete: ${refused.join(', ')}`);
  return told.join(', ');
}
