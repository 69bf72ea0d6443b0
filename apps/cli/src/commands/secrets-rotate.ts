import { resealIntegrations } from '@parley/db';
import { resealPublishableKeys } from '@parley/identity';
import { resealToolSecrets } from '@parley/tools';
import { withDatabase } from '../database';
import { Failure } from '../failure';
import { openSecretBox } from '../secrets';
import { print, printJson } from '../terminal';

/** `parley secrets rotate`: re-encrypts all secrets with the first key of SECRETS_KEY. */
export async function runSecretsRotate({ json }: { json?: boolean }): Promise<void> {
  const parts = await withDatabase(async (db) => {
    const box = openSecretBox();
    return [await resealIntegrations(db, box), await resealToolSecrets(db, box), await resealPublishableKeys(db, box)];
  });
  const resealed = parts.reduce((sum, part) => sum + part.resealed, 0);
  const unreadable = parts.flatMap((part) => part.unreadable);
  if (json) printJson({ resealed, unreadable });
  else print(`Re-encrypted ${resealed} secret${resealed === 1 ? '' : 's'}.`);
  if (unreadable.length > 0)
    throw new Failure(
      `No key in SECRETS_KEY decrypts ${unreadable.join(', ')}. Add the key that does, or configure them again`,
    );
}
