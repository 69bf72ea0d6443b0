import { resolve } from 'node:path';
import type { SyncPull } from '@parley/contracts';
import { type Api, ApiFailure, createApi } from '../api';
import { Failure, describeFailure } from '../failure';
import { formatChanges, isEmpty, summarize } from '../push/format-changes';
import { loadFolder } from '../push/load-folder';
import { sendDefinitions } from '../push/send-definitions';
import { tellLeftAlone } from '../push/tell-left-alone';
import { watchFolder } from '../push/watch-folder';
import { safeText } from '../safe-text';
import { colors, note, print, printJson } from '../terminal';

export interface DevOptions {
  prune?: boolean;
  json?: boolean;
}

/** Editors write a file in several steps; what comes within this time is one change. */
const settleMs = 120;
const retryMs = 3_000;

/** `parley dev [folder]`: pushes to development whenever a file changes; a problem is shown and waited out. */
export async function runDev(folder: string, options: DevOptions): Promise<void> {
  const root = resolve(folder);
  developmentApi();
  await loadFolder(root); // a folder that is none is a wrong call, not something to wait for
  const tell = createTeller(options);
  let timer: NodeJS.Timeout | undefined;
  let pushing = Promise.resolve();
  const later = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      pushing = pushing.then(async () => {
        if (!(await pushOnce(root, options, tell))) later(retryMs);
      });
    }, ms);
  };
  // What a file of definitions leaves running is its own failure, and no end of this command.
  process.removeAllListeners('uncaughtException').on('uncaughtException', tell);
  const stop = watchFolder(root, () => later(settleMs), tell);
  if (!options.json) note(`Watching ${root}; Ctrl-C ends.`);
  later(0);
  await new Promise<void>((end) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => end());
  });
  stop();
  clearTimeout(timer);
  await pushing;
}

/** Asked for before each push: `.env` may have been mended meanwhile. */
function developmentApi(): Api {
  const api = createApi();
  if (api.key.startsWith('sk_prod_'))
    throw new Failure('dev pushes to development; PARLEY_API_KEY is a key of production');
  return api;
}

/** Tells a failure; null is a success, after which the same failure is worth telling again. */
type Tell = (error: unknown) => void;

function createTeller({ json }: DevOptions): Tell {
  let said: string | undefined;
  return (error) => {
    if (error === null) return void (said = undefined);
    const { message, text, fields } = describeFailure(error);
    // A server that is away is asked every few seconds, with another request id each time.
    if (said === text && isAway(error)) return;
    said = text;
    if (json) printJson({ error: text, ...fields });
    else note(safeText(`${clock()}  ${colors.red('error:')} ${message}`));
    if (isAway(error)) note(`${clock()}  It is tried again every ${retryMs / 1000} s.`);
  };
}

/** The server could not be reached or could not work, so that it is worth trying again without a change. */
const isAway = (error: unknown): boolean =>
  error instanceof ApiFailure
    ? error.status >= 500 || error.status === 429
    : error instanceof Failure && (error.fields as { code?: string }).code === 'unreachable';

/** False when it should be tried again by itself. */
async function pushOnce(root: string, { prune = false, json }: DevOptions, tell: Tell): Promise<boolean> {
  try {
    const api = developmentApi();
    const loaded = await loadFolder(root);
    const before = loaded.incomplete.length > 0 ? null : await api.post<SyncPull>('/v1/sync/pull', {});
    const result = await sendDefinitions(api, loaded, { prune });
    tell(null);
    if (json) printJson(result);
    else {
      if (!isEmpty(result)) print(formatChanges(result, before?.resources ?? {}, loaded.resources, { detailed: true }));
      if (!prune && before) await tellLeftAlone(api, before.resources, loaded);
      note(`${clock()}  ${summarize(result)}; development is at version ${result.version}.`);
    }
    return true;
  } catch (error) {
    tell(error);
    return !isAway(error);
  }
}

const clock = (): string => colors.dim(new Date().toTimeString().slice(0, 8));
