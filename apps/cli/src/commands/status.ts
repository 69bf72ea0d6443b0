import { type SyncResult, type SyncState, resourceKinds } from '@parley/contracts';
import { createApi } from '../api';
import { countOf, isEmpty, namesOfRefused } from '../push/format-changes';
import { folders, hasDefinitions } from '../push/load-folder';
import { previewPush } from '../push/preview-push';
import { formatFields, formatTable, print, printJson } from '../terminal';

/**
 * `parley status [folder]`: prints the key's environment, its definitions, and how
 * the folder differs.
 */
export async function runStatus(folder: string, { json }: { json?: boolean }): Promise<void> {
  const api = createApi();
  const { organization, environment, version, resources } = await api.post<SyncState>(
    '/v1/sync/state',
    {},
  );
  const result = hasDefinitions(folder) ? (await previewPush(api, folder, true)).result : null;
  const local = result === null ? 'no definitions in this folder' : describeDifference(result);
  if (json) {
    const counts = Object.fromEntries(resourceKinds.map((kind) => [kind, resources[kind].length]));
    const agents = resources.agents.map(({ id, slug, name }) => ({ id, slug, name }));
    const local = result?.results ?? null;
    return printJson({ url: api.url, organization, environment, version, counts, agents, local });
  }
  const named = `${organization.slug} (${organization.name})`;
  print(
    formatFields({
      address: api.url,
      organization: named,
      environment,
      version: String(version),
      folder: local,
    }),
  );
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

/** Names differences without a direction, as either a push or a pull may follow. */
function describeDifference(result: SyncResult): string {
  const { results } = result;
  const refused = namesOfRefused(results);
  if (isEmpty(result) && refused.length === 0) return 'same as the environment';
  const parts = [
    [countOf(results, 'created'), 'only in the folder'],
    [countOf(results, 'updated'), 'differ'],
    [countOf(results, 'deleted'), 'only in the environment'],
  ] as const;
  const shown = parts.flatMap(([count, what]) => (count === 0 ? [] : `${count} ${what}`));
  if (refused.length > 0)
    shown.push(
      `${refused.length} only in the environment and not deletable with --prune: ${refused.join(', ')}`,
    );
  return shown.join(', ');
}
