import { resealIntegrations } from '@parley/db';
import { resealToolSecrets } from '@parley/tools';
import { withDatabase } from '../database';
import { Failure } from '../failure';
import { openSecretBox } from '../secrets';
import { print, printJson } from '../terminal';

/** `parley secrets rotate`: re-encrypts all secrets with the first key of SECRETS_KEY. */
export async function runSecretsRotate({ json }: { json?: boolean }): Promise<void> {
  const [integrations, tools] = await withDatabase(async (db) => {
    const box = openSecretBox();
    return [await resealIntegrations(db, box), await resealToolSecrets(db, box)];
  });
  const resealed = integrations.resealed + tools.resealed;
  const unreadable = [...integrations.unreadable, ...tools.unreadable];
  if (json) printJson({ resealed, unreadable });
  else print(`Re-encrypted ${resealed} secret${resealed === 1 ? '' : 's'}.`);
  if (unreadable.length > 0)
    throw new Failure(
      `No key in SECRETS_KEY decrypts ${unreadable.join(', ')}. Add the key that does, or configure them again`,
    );
}
