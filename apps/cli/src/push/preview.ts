import type { SyncPull, SyncResult } from '@parley/contracts';
import type { Api } from '../api';
import { type LoadedFolder, loadFolder } from './load-folder';
import { sendDefinitions } from './send-definitions';

export interface Preview {
  loaded: LoadedFolder;
  before: SyncPull;
  /** What a push would do, to the version that `before` has. */
  result: SyncResult;
}

/** What a push of a folder would change, without changing it. */
export async function previewPush(api: Api, folder: string, prune: boolean): Promise<Preview> {
  const loaded = await loadFolder(folder);
  const before = await api.post<SyncPull>('/v1/sync/pull', {});
  const result = await sendDefinitions(api, loaded, { dryRun: true, prune });
  return { loaded, before, result };
}
