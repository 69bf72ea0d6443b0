import type { SyncResult } from '@parley/contracts';
import { type Api, ApiFailure } from '../api';
import { Failure } from '../failure';
import { type LoadedFolder, locateProblem } from './load-folder';

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
  if (incomplete.length > 0) throw problemsFailure(problems);
  const dryRun = options.dryRun || problems.length > 0;
  try {
    const result = await api.post<SyncResult>('/v1/sync', { resources, ...options, dryRun });
    if (problems.length > 0) throw problemsFailure(problems);
    return result;
  } catch (error) {
    if (error instanceof ApiFailure && error.details.length > 0) throw located(error, loaded);
    throw problems.length > 0 ? problemsFailure(problems) : error;
  }
}

/** Problems of the definitions are told with the file that each is in. */
function located(error: ApiFailure, loaded: LoadedFolder): Failure {
  const problems = error.details.map((detail) => locateProblem(detail, loaded));
  const fields = { ...error.fields, problems };
  return new Failure([`${error.message}:`, ...problems].join('\n  '), error.exitCode, fields, error.text);
}

const problemsFailure = (problems: string[]): Failure =>
  new Failure(['the definitions have problems:', ...problems].join('\n  '), undefined, { problems });
