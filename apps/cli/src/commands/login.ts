import { ParleyApiError, ParleyClient } from '@parley/client';
import { createManageClient } from '@parley/client/manage';
import { explainApiError } from '../data/client';
import {
  apiUrl,
  environmentOf,
  findStack,
  readLogin,
  readVariable,
  storeLogin,
} from '../environment';
import { askSecret } from '../secrets';
import { note, print, printJson } from '../terminal';

/**
 * `parley login`: stores an address and a key that the server accepts, for all commands that
 * use the HTTP API.
 */
export async function runLogin(options: {
  key?: string;
  url?: string;
  json?: boolean;
}): Promise<void> {
  const url = apiUrl(options.url ?? readVariable('PARLEY_URL'));
  const key = await askSecret(options.key, 'API key', 'printf %s "$KEY" | parley login --key -');
  const client = new ParleyClient({ apiKey: key, baseUrl: url, maxRetries: 1 });
  const organization = await createManageClient(client)
    .getOrganization()
    .catch((error: unknown) => {
      if (error instanceof ParleyApiError && error.code === 'missing_permission') return null;
      throw explainApiError(error, url);
    });
  const environment = environmentOf(key);
  const file = storeLogin({ url, key });
  if (options.json) return printJson({ url, environment, organization, file });
  print(
    `Logged in to ${url}: ${environment}${organization === null ? '' : ` of ${organization.slug}`}.`,
  );
  if (organization === null)
    note(
      'The key lacks the permission manage, which threads, executions, keys and similar commands need.',
    );
  const stronger = ['PARLEY_URL', 'PARLEY_API_KEY'].filter(
    (name) => readVariable(name) !== undefined,
  );
  if (stronger.length > 0) note(`${stronger.join(' and ')} in this shell or folder override it.`);
  else if (findStack() !== null)
    note('While npm start runs, commands in this checkout use that stack.');
}

/** `parley logout`: deletes what `parley login` stored. The key stays valid. */
export async function runLogout({ json }: { json?: boolean }): Promise<void> {
  const url = readLogin()?.url ?? null;
  storeLogin(null);
  if (json) return printJson({ url });
  if (url === null) return note('You are not logged in.');
  print(`Logged out of ${url}. The key is still valid; revoke it with: parley keys revoke`);
}
