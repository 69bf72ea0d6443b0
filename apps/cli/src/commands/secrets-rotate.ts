import { resealIntegrations } from '@parley/db';
import { withDatabase } from '../database';
import { Failure } from '../failure';
import { openSecretBox } from '../secrets';
import { print, printJson } from '../terminal';

/** `parley secrets rotate`: seals everything under the first key of SECRETS_KEY. */
export async function runSecretsRotate({ json }: { json?: boolean }): Promise<void> {
  const { resealed, unreadable } = await withDatabase((db) => resealIntegrations(db, openSecretBox()));
  if (json) printJson({ resealed, unreadable });
  else print(`${resealed} secret${resealed === 1 ? '' : 's'} sealed again.`);
  if (unreadable.length > 0)
    throw new Failure(`No key in SECRETS_KEY opens ${unreadable.join(', ')}: keep the key that does, or set them anew`);
}
