import type { ResourceSet } from '@parley/contracts';
import type { Api } from '../api';
import { describeFailure } from '../failure';
import { colors, note } from '../terminal';
import { namesBeyond, noteLeftAlone } from './format-changes';
import type { LoadedFolder } from './load-folder';
import { sendDefinitions } from './send-definitions';

/** Says what is in the environment and not in the folder, and what --prune would do about it: the server is asked. */
export async function tellLeftAlone(api: Api, before: ResourceSet, loaded: LoadedFolder): Promise<void> {
  const names = namesBeyond(before, loaded.resources);
  if (names.length === 0) return;
  try {
    noteLeftAlone(await sendDefinitions(api, { ...loaded, doubts: [] }, { dryRun: true, prune: true }));
  } catch (error) {
    const why = describeFailure(error).message;
    note(colors.dim(`Not in the folder and left alone: ${names.join(', ')}. --prune would fail: ${why}`));
  }
}
