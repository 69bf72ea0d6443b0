import type { SyncPull } from '@parley/contracts';
import { createApi } from '../api';
import { formatChanges, summarize } from '../push/format-changes';
import { loadFolder } from '../push/load-folder';
import { sendDefinitions } from '../push/send-definitions';
import { reportExtraDefinitions } from '../push/report-extra-definitions';
import { note, print, printJson } from '../terminal';

export interface PushOptions {
  dryRun?: boolean;
  prune?: boolean;
  json?: boolean;
}

/**
 * `parley push [folder]`: sends the folder's definitions to the key's environment and
 * prints the changes.
 */
export async function runPush(
  folder: string,
  { dryRun = false, prune = false, json }: PushOptions,
): Promise<void> {
  const api = createApi();
  const loaded = await loadFolder(folder);
  const before =
    json || loaded.incomplete.length > 0
      ? null
      : await api.post<SyncPull>('/v1/sync/pull', {}).catch(() => null);
  const result = await sendDefinitions(api, loaded, { dryRun, prune });
  if (json) return printJson(result);
  const changes = formatChanges(result, before?.resources ?? {}, loaded.resources, {
    detailed: dryRun,
  });
  if (changes !== '') print(changes);
  if (!prune && before) await reportExtraDefinitions(api, before.resources, loaded);
  const version = `${before?.environment ?? 'the environment'} is at version ${result.version}`;
  note(
    dryRun
      ? `Dry run: ${summarize(result)}; ${version}.`
      : `Pushed: ${summarize(result)}; ${version}.`,
  );
}
