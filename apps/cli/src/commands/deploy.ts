import { createApi } from '../api';
import { productionAddress } from '../environment';
import { formatChanges, isEmpty, summarize } from '../push/format-changes';
import { previewPush } from '../push/preview-push';
import { sendDefinitions } from '../push/send-definitions';
import { requireConsent } from '../require-consent';
import { note, print, printJson } from '../terminal';

export interface DeployOptions {
  yes?: boolean;
  prune?: boolean;
  json?: boolean;
}

/** `parley deploy [folder]`: shows the changes, asks for confirmation and pushes to production. */
export async function runDeploy(
  folder: string,
  { yes, prune = false, json }: DeployOptions,
): Promise<void> {
  const api = createApi(productionAddress());
  const { loaded, before, result } = await previewPush(api, folder, prune);
  if (isEmpty(result)) {
    if (json) return printJson({ ...result, dryRun: false });
    return note(`Nothing to change; production is at version ${before.version}.`);
  }
  if (!json) print(formatChanges(result, before.resources, loaded.resources, { detailed: true }));
  if (!yes)
    await requireConsent(`Deploy to production at ${api.url} (${summarize(result)})?`, {
      instead: 'Use --yes to deploy without it',
      refused: 'Nothing was deployed',
    });
  // expectedVersion refuses the push if another push has changed production since the
  // changes were shown.
  const done = await sendDefinitions(api, loaded, { prune, expectedVersion: before.version });
  if (json) return printJson(done);
  note(`Deployed: ${summarize(done)}; production is at version ${done.version}.`);
}
