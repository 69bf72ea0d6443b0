import type { ResourceSet } from '@parley/contracts';
import type { Api } from '../api';
import { describeFailure } from '../failure';
import { colors, note } from '../terminal';
import { hasMore, noteLeftAlone } from './format-changes';
import type { LoadedFolder } from './load-folder';
import { sendDefinitions } from './send-definitions';

/** Says what is in the environment and not in the folder, and what --prune would do about it: the server is asked. */
export async function tellLeftAlone(api: Api, before: ResourceSet, loaded: LoadedFolder): Promise<void> {
  if (!hasMore(before, loaded.resources)) return;
  try {
    noteLeftAlone(await sendDefinitions(api, { ...loaded, doubts: [] }, { dryRun: true, prune: true }));
  } catch (error) {
    note(colors.dim(`The environment has more than the folder; --prune would fail: ${describeFailure(error).message}`));
  }
}
