import type { SyncPull } from '@parley/contracts';
import { createApi } from '../api';
import { io, pathOf } from '../command-io';
import { exitCodes } from '../failure';
import { type Pulled, pullResources } from '../pull/pull-resources';
import { hasDefinitions, loadFolder } from '../push/load-folder';
import { safeLine } from '../safe-text';
import { colors, note, print, printJson } from '../terminal';

export interface PullOptions {
  force?: boolean;
  json?: boolean;
}

/**
 * `parley pull [folder]`: writes definitions that the folder lacks, one file for each. A file
 * whose definition differs is overwritten only with `--force`. A push of pulled definitions
 * changes nothing.
 */
export async function runPull(folder: string, { force = false, json }: PullOptions): Promise<void> {
  const { environment, version, resources } = await createApi().post<SyncPull>('/v1/sync/pull', {});
  const local = hasDefinitions(folder) ? await loadFolder(folder) : null;
  const pulled = pullResources(pathOf(folder), resources, local, force);
  const kept = pulled.filter(({ outcome }) => outcome === 'kept');
  if (kept.length > 0) io().exitCode = exitCodes.failure;
  if (json) return printJson({ environment, version, definitions: pulled });
  for (const { file, outcome, slug, reason } of pulled) {
    if (outcome === 'written') print(colors.green(`  + ${safeLine(file)}: ${safeLine(slug)}`));
    if (outcome === 'kept')
      print(colors.yellow(`  ! ${safeLine(file)}: ${safeLine(slug)} was not written: ${reason}`));
  }
  const count = (counted: Pulled['outcome']) =>
    pulled.filter(({ outcome }) => outcome === counted).length;
  note(
    `Pulled ${environment} at version ${version}: ${count('written')} written, ${count('unchanged')} unchanged.`,
  );
  if (kept.length > 0)
    note(
      force
        ? `${kept.length} could not be written. Fix or delete the files listed above.`
        : `${kept.length} differ and were not written. parley diff shows the differences; --force overwrites the files.`,
    );
}
