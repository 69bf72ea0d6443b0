import type { SyncPull, SyncResult } from '@parley/contracts';
import type { Api } from '../api';
import { type LoadedFolder, loadFolder } from './load-folder';
import { sendDefinitions } from './send-definitions';

export interface Preview {
  loaded: LoadedFolder;
  before: SyncPull;
  /** The result of a dry run against the version of `before`. */
  result: SyncResult;
}

/** Loads a folder and pushes it as a dry run, which returns the changes that a push would make. */
export async function previewPush(api: Api, folder: string, prune: boolean): Promise<Preview> {
  const loaded = await loadFolder(folder);
  const before = await api.post<SyncPull>('/v1/sync/pull', {});
  const result = await sendDefinitions(api, loaded, { dryRun: true, prune });
  return { loaded, before, result };
}
