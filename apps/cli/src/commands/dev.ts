import { watch } from 'node:fs';
import { resolve } from 'node:path';
import type { SyncPull } from '@parley/contracts';
import { type Api, createApi } from '../api';
import { Failure, describeFailure } from '../failure';
import { formatChanges, isEmpty, summarize } from '../push/format-changes';
import { loadFolder } from '../push/load-folder';
import { sendDefinitions } from '../push/send-definitions';
import { safeText } from '../safe-text';
import { colors, note, print, printJson } from '../terminal';

export interface DevOptions {
  prune?: boolean;
  json?: boolean;
}

/** Editors write a file in several steps; what comes within this time is one change. */
const settleMs = 120;
const retryMs = 3_000;
const ignored = /(^|[\\/])(node_modules|\.git|dist)([\\/]|$)|\.parley-|(^|[\\/])\.[^\\/]*\.sw.$|~$/;

/** `parley dev [folder]`: pushes to development whenever a file changes; a problem is shown and waited out. */
export async function runDev(folder: string, options: DevOptions): Promise<void> {
  const api = createApi();
  if (api.key.startsWith('sk_prod_'))
    throw new Failure('dev pushes to development; PARLEY_API_KEY is a key of production');
  const root = resolve(folder);
  await loadFolder(root); // a folder that is none is a wrong call, not something to wait for
  let timer: NodeJS.Timeout | undefined;
  let pushing = Promise.resolve();
  const later = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      pushing = pushing.then(async () => {
        if (!(await pushOnce(api, root, options))) later(retryMs);
      });
    }, ms);
  };
  const watcher = watch(root, { recursive: true }, (_event, name) => {
    if (name === null || !ignored.test(name)) later(settleMs);
  });
  watcher.on('error', (error) => note(colors.red(`error: cannot watch ${folder}: ${error.message}`)));
  if (!options.json) note(`Watching ${root}; Ctrl-C ends.`);
  later(0);
  await new Promise<void>((end) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => end());
  });
  watcher.close();
  clearTimeout(timer);
  await pushing;
}

/** False when the server could not be reached, so that it is worth trying again without a change. */
async function pushOnce(api: Api, root: string, { prune = false, json }: DevOptions): Promise<boolean> {
  try {
    const loaded = await loadFolder(root);
    const before = loaded.isIncomplete ? null : await api.post<SyncPull>('/v1/sync/pull', {});
    const result = await sendDefinitions(api, loaded, { prune });
    if (json) printJson(result);
    else {
      if (!isEmpty(result)) print(formatChanges(result, before?.resources ?? {}, loaded.resources, { detailed: true }));
      note(`${clock()}  ${summarize(result)}; development is at version ${result.version}.`);
    }
    return true;
  } catch (error) {
    const { message, fields } = describeFailure(error);
    if (json) printJson({ error: message, ...fields });
    else note(safeText(`${clock()}  ${colors.red('error:')} ${message}`));
    return !(error instanceof Failure) || !/does not answer|HTTP 50\d/.test(message);
  }
}

const clock = (): string => colors.dim(new Date().toTimeString().slice(0, 8));
