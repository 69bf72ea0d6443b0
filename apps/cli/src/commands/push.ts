import type { SyncPull, SyncResult } from '@parley/contracts';
import { type Api, ApiFailure, createApi } from '../api';
import { Failure } from '../failure';
import { formatResult, summarize } from '../push/format-result';
import { type LoadedFolder, loadFolder, locateProblem } from '../push/load-folder';
import { note, print } from '../terminal';

export interface PushOptions {
  dryRun?: boolean;
  prune?: boolean;
  json?: boolean;
}

/** `parley push <folder>`: brings the key's environment to what the folder defines, and prints what that changed. */
export async function runPush(folder: string, { dryRun = false, prune = false, json }: PushOptions): Promise<void> {
  const api = createApi();
  const loaded = await loadFolder(folder);
  if (loaded.problems.length > 0)
    throw new Failure(['the definitions have problems:', ...loaded.problems].join('\n  '));
  const before = json ? null : await send<SyncPull>(api, '/v1/sync/pull', {}, loaded);
  const body = { resources: loaded.resources, dryRun, prune };
  const result = await send<SyncResult>(api, '/v1/sync', body, loaded);
  if (before === null) return print(JSON.stringify(result));
  const formatted = formatResult(result, before.resources, loaded.resources);
  if (formatted !== '') print(formatted);
  const version = `${before.environment} is at version ${result.version}`;
  note(dryRun ? `Dry run: ${summarize(result)}; ${version}.` : `Pushed: ${summarize(result)}; ${version}.`);
}

/** Problems of the definitions are told with the file that each is in. */
async function send<T>(api: Api, path: string, body: object, loaded: LoadedFolder): Promise<T> {
  try {
    return await api.post<T>(path, body);
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.details.length === 0) throw error;
    const problems = error.details.map((detail) => locateProblem(detail, loaded));
    throw new Failure([`${error.message}:`, ...problems].join('\n  '));
  }
}
