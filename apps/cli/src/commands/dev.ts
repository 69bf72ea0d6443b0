import type { SyncPull } from '@parley/contracts';
import { type Api, ApiFailure, createApi } from '../api';
import { pathOf } from '../command-io';
import { Failure, describeFailure } from '../failure';
import { formatChanges, isEmpty, summarize } from '../push/format-changes';
import { loadFolder } from '../push/load-folder';
import { sendDefinitions } from '../push/send-definitions';
import { reportExtraDefinitions } from '../push/report-extra-definitions';
import { watchFolder } from '../push/watch-folder';
import { refreshTypes } from '../types/refresh-types';
import { safeText } from '../safe-text';
import { colors, note, print, printJson } from '../terminal';

export interface DevOptions {
  prune?: boolean;
  json?: boolean;
}

/** Editors save a file in several steps. Changes within this time cause one push. */
const settleMs = 120;
const retryMs = 3_000;

/**
 * `parley dev [folder]`: pushes to development whenever a file changes. Prints errors
 * and keeps running.
 */
export async function runDev(folder: string, options: DevOptions): Promise<void> {
  const root = pathOf(folder);
  developmentApi();
  await loadFolder(root); // throws if the folder does not exist or has no definitions
  const report = createReporter(options);
  let timer: NodeJS.Timeout | undefined;
  let pushing = Promise.resolve();
  const later = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      pushing = pushing.then(async () => {
        if (!(await pushOnce(root, options, report))) later(retryMs);
      });
    }, ms);
  };
  // A timer or promise that a definition file left behind may fail later. That must not
  // end this command.
  process.removeAllListeners('uncaughtException').on('uncaughtException', report);
  const stop = watchFolder(root, () => later(settleMs), report);
  if (!options.json) note(`Watching ${root}. Press Ctrl-C to stop.`);
  later(0);
  await new Promise<void>((end) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => end());
  });
  stop();
  clearTimeout(timer);
  await pushing;
}

/** Called before each push, because `.env` may have changed. */
function developmentApi(): Api {
  const api = createApi();
  if (api.key.startsWith('sk_prod_'))
    throw new Failure(
      'dev pushes to development, but PARLEY_API_KEY is a production key. Set a development key',
    );
  return api;
}

/**
 * Prints an error unless it repeats the last one. Null reports a success, after which the same
 * error is printed again.
 */
type Report = (error: unknown) => void;

function createReporter({ json }: DevOptions): Report {
  let printed: string | undefined;
  return (error) => {
    if (error === null) return void (printed = undefined);
    const { message, text, fields } = describeFailure(error);
    // Retries fail every few seconds with the same text and another request id.
    if (printed === text && isTemporary(error)) return;
    printed = text;
    if (json) printJson({ error: text, ...fields });
    else note(`${clock()}  ${colors.red('error:')} ${safeText(message)}`);
    if (isTemporary(error)) note(`${clock()}  Retrying every ${retryMs / 1000} s.`);
  };
}

/**
 * Whether a retry may succeed although the folder has not changed: the server is unreachable,
 * overloaded or failing.
 */
const isTemporary = (error: unknown): boolean =>
  error instanceof ApiFailure
    ? error.status >= 500 || error.status === 429
    : error instanceof Failure && (error.fields as { code?: string }).code === 'unreachable';

/** Returns false when the push failed and should be retried. */
async function pushOnce(
  root: string,
  { prune = false, json }: DevOptions,
  report: Report,
): Promise<boolean> {
  try {
    const api = developmentApi();
    const loaded = await loadFolder(root);
    refreshTypes(root, loaded);
    const before =
      loaded.incomplete.length > 0 ? null : await api.post<SyncPull>('/v1/sync/pull', {});
    const result = await sendDefinitions(api, loaded, { prune });
    report(null);
    if (json) printJson(result);
    else {
      if (!isEmpty(result))
        print(formatChanges(result, before?.resources ?? {}, loaded.resources, { detailed: true }));
      if (!prune && before) await reportExtraDefinitions(api, before.resources, loaded);
      note(`${clock()}  ${summarize(result)}; development is at version ${result.version}.`);
      suggestChat(loaded.resources.agents?.[0]);
    }
    return true;
  } catch (error) {
    report(error);
    return !isTemporary(error);
  }
}

let isSuggested = false;

/** Names the next command once, after the first push. */
function suggestChat(agent: unknown): void {
  const { slug } = (agent ?? {}) as { slug?: string };
  if (isSuggested || slug === undefined) return;
  isSuggested = true;
  note(`          Talk to ${slug} in another terminal: npx parley chat ${slug}`);
}

const clock = (): string => colors.dim(new Date().toTimeString().slice(0, 8));
