import { type ResourceKind, resourceKinds } from '@parley/contracts';
import { createApi } from '../api';
import { io } from '../command-io';
import { exitCodes } from '../failure';
import { compareFields } from '../push/compare';
import { find, formatChanges, isEmpty, summarize } from '../push/format-changes';
import { type Preview, previewPush } from '../push/preview-push';
import { reportExtraDefinitions } from '../push/report-extra-definitions';
import { note, print, printJson } from '../terminal';

export interface DiffOptions {
  prune?: boolean;
  exitCode?: boolean;
  json?: boolean;
}

/** `parley diff [folder]`: shows what a push would change, field by field. */
export async function runDiff(
  folder: string,
  { prune = false, exitCode, json }: DiffOptions,
): Promise<void> {
  const api = createApi();
  const preview = await previewPush(api, folder, prune);
  const { result, before, loaded } = preview;
  if (json)
    printJson({
      environment: before.environment,
      version: before.version,
      changes: changesOf(preview),
    });
  else {
    const text = formatChanges(result, before.resources, loaded.resources, { detailed: true });
    if (text !== '') print(text);
    if (!prune) await reportExtraDefinitions(api, before.resources, loaded);
    note(`${summarize(result)}; ${before.environment} is at version ${before.version}.`);
  }
  if (exitCode && !isEmpty(result)) io().exitCode = exitCodes.different;
}

interface Change {
  kind: ResourceKind;
  slug: string;
  action: 'created' | 'updated' | 'deleted';
  fields?: object[];
}

function changesOf({ result, before, loaded }: Preview): Change[] {
  return resourceKinds.flatMap((kind) => {
    const { created = [], updated = [], deleted = [] } = result.results[kind] ?? {};
    const fields = (slug: string) =>
      compareFields(
        find(before.resources[kind], slug) ?? {},
        find(loaded.resources[kind] ?? [], slug) ?? {},
      );
    return [
      ...created.map((slug): Change => ({ kind, slug, action: 'created' })),
      ...updated.map((slug): Change => ({ kind, slug, action: 'updated', fields: fields(slug) })),
      ...deleted.map((slug): Change => ({ kind, slug, action: 'deleted' })),
    ];
  });
}
