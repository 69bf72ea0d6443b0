import type { ResourceSet } from '@parley/contracts';
import type { Api } from '../api';
import { describeFailure } from '../failure';
import { colors, note } from '../terminal';
import { namesOfExtra, noteExtraDefinitions } from './format-changes';
import type { LoadedFolder } from './load-folder';
import { sendDefinitions } from './send-definitions';

/**
 * Lists definitions that the environment has and the folder lacks, with the effect that --prune
 * would have on them. They are kept without --prune: one of them may have been renamed in the
 * folder, which cannot be detected.
 */
export async function reportExtraDefinitions(
  api: Api,
  before: ResourceSet,
  loaded: LoadedFolder,
): Promise<void> {
  const names = namesOfExtra(before, loaded.resources);
  if (names.length === 0) return;
  try {
    noteExtraDefinitions(
      await sendDefinitions(api, loaded, { dryRun: true, prune: true }, { isQuiet: true }),
    );
  } catch (error) {
    const reason = describeFailure(error).message;
    note(
      colors.dim(`Not in the folder, and kept: ${names.join(', ')}. --prune would fail: ${reason}`),
    );
  }
}
