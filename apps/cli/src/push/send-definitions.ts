import type { ErrorDetail, SyncResult } from '@parley/contracts';
import { type Api, ApiFailure } from '../api';
import { Failure } from '../failure';
import { asJson, note } from '../terminal';
import { type LoadedFolder, folders, labels, locateProblem } from './load-folder';

export interface SendOptions {
  dryRun?: boolean;
  prune?: boolean;
  expectedVersion?: number;
}

/**
 * Pushes what a folder defines. Problems of shape are known before; they are sent all the same, as a dry run, so that
 * the server's (unknown references, cycles, names) are told together with them.
 */
export async function sendDefinitions(api: Api, loaded: LoadedFolder, options: SendOptions): Promise<SyncResult> {
  const { problems, incomplete, resources } = loaded;
  if (incomplete.length > 0) throw await incompleteFailure(api, loaded);
  const dryRun = options.dryRun || problems.length > 0;
  try {
    const result = await api.post<SyncResult>('/v1/sync', { resources, ...options, dryRun });
    if (problems.length > 0) throw problemsFailure(problems);
    if (!asJson) for (const doubt of loaded.doubts) note(`${doubt}.`);
    return result;
  } catch (error) {
    if (error instanceof ApiFailure && error.details.length > 0) throw located(error, loaded);
    throw problems.length > 0 ? problemsFailure(problems) : error;
  }
}

/**
 * Where a file could not be read, the server is asked about the others all the same. That it does not know what such a
 * file may define says nothing, and is told apart.
 */
async function incompleteFailure(api: Api, loaded: LoadedFolder): Promise<Failure> {
  const { resources, incompleteKinds, problems } = loaded;
  const missing = [...incompleteKinds];
  const isCertain = ({ message }: ErrorDetail) => {
    const unquoted = message.replaceAll(/"[^"]*"/g, '');
    return !missing.some((kind) => unquoted.includes(labels[kind].replace(/^an? /, '')));
  };
  const details = await api.post<SyncResult>('/v1/sync', { resources, dryRun: true }).then(
    (): ErrorDetail[] => [],
    (error: unknown) => (error instanceof ApiFailure && error.code === 'invalid_definitions' ? error.details : null),
  );
  const located = (details ?? []).filter(isCertain).map((detail) => locateProblem(detail, loaded));
  const which = details === null ? '' : ` to ${missing.map((kind) => folders[kind]).join(', ')}`;
  return problemsFailure(
    [...new Set([...problems, ...located])],
    `References${which} are checked once these are mended.`,
  );
}

/** Problems of the definitions are told with the file that each is in. */
function located(error: ApiFailure, loaded: LoadedFolder): Failure {
  const problems = error.details.map((detail) => locateProblem(detail, loaded));
  const fields = { ...error.fields, problems };
  return new Failure([`${error.message}:`, ...problems].join('\n  '), error.exitCode, fields, error.text);
}

const problemsFailure = (problems: string[], hint = ''): Failure => {
  const text = ['the definitions have problems:', ...problems].join('\n  ');
  return new Failure(hint === '' ? text : `${text}\n${hint}`, undefined, { problems, ...(hint && { hint }) });
};
