import type { ErrorDetail, SyncResult } from '@parley/contracts';
import { type Api, ApiFailure } from '../api';
import { Failure } from '../failure';
import { asJson, note } from '../terminal';
import { missingSecrets } from './missing-secrets';
import { type LoadedFolder, folders, labels, locateProblem } from './load-folder';

export interface SendOptions {
  dryRun?: boolean;
  prune?: boolean;
  expectedVersion?: number;
}

/**
 * Pushes the definitions of a folder. Definitions with an invalid shape are sent too, as a dry run,
 * so that the errors that only the server detects (unknown references, cycles, names) are reported
 * together with them.
 */
export async function sendDefinitions(
  api: Api,
  loaded: LoadedFolder,
  options: SendOptions,
  { isQuiet = asJson() } = {},
): Promise<SyncResult> {
  const { problems, incomplete, resources } = loaded;
  if (incomplete.length > 0) throw await incompleteFailure(api, loaded);
  const dryRun = options.dryRun || problems.length > 0;
  try {
    const result = await api.post<SyncResult>('/v1/sync', { resources, ...options, dryRun });
    if (problems.length > 0) throw problemsFailure(problems);
    const warnings = isQuiet
      ? []
      : [...loaded.warnings, ...(await missingSecrets(api, resources.tools))];
    for (const warning of warnings) note(`warning: ${warning}`);
    return result;
  } catch (error) {
    if (error instanceof ApiFailure && error.details.length > 0) throw located(error, loaded);
    throw problems.length > 0 ? problemsFailure(problems) : error;
  }
}

/**
 * When a file cannot be read, the server still checks the other definitions. An unknown reference
 * to a kind that the file may define is not reported as an error.
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
    (error: unknown) =>
      error instanceof ApiFailure && error.code === 'invalid_definitions' ? error.details : null,
  );
  const located = (details ?? []).filter(isCertain).map((detail) => locateProblem(detail, loaded));
  const which = details === null ? '' : ` to ${missing.map((kind) => folders[kind]).join(', ')}`;
  return problemsFailure(
    [...new Set([...problems, ...located])],
    `References${which} are checked once these problems are fixed.`,
  );
}

/**
 * The server's errors with the file of each definition, after those of the folder that the
 * server cannot see.
 */
function located(error: ApiFailure, loaded: LoadedFolder): Failure {
  const fromServer = error.details.map((detail) => locateProblem(detail, loaded));
  const problems = [...new Set([...loaded.problems, ...fromServer])];
  const fields = { ...error.fields, problems };
  return new Failure(
    [`${error.message}:`, ...problems].join('\n  '),
    error.exitCode,
    fields,
    error.text,
  );
}

const problemsFailure = (problems: string[], hint = ''): Failure => {
  const text = ['The definitions have problems:', ...problems].join('\n  ');
  return new Failure(hint === '' ? text : `${text}\n${hint}`, undefined, {
    problems,
    ...(hint && { hint }),
  });
};
