import { resealStale } from '@parley/db';
import { withDatabase } from '../database';
import { Failure } from '../failure';
import { openSecretBox, sealedValues } from '../secrets';
import { print, printJson } from '../terminal';

/** `parley secrets rotate`: re-encrypts all secrets with the first key of SECRETS_KEY. */
export async function runSecretsRotate({ json }: { json?: boolean }): Promise<void> {
  const { resealed, unreadable } = await withDatabase(async (db) =>
    resealStale(openSecretBox(), await sealedValues(db)),
  );
  if (json) printJson({ resealed, unreadable });
  else print(`Re-encrypted ${resealed} secret${resealed === 1 ? '' : 's'}.`);
  if (unreadable.length > 0)
    throw new Failure(
      `No key in SECRETS_KEY decrypts ${unreadable.join(', ')}. Add the key that does, or configure them again`,
    );
}
