import { revokeApiKey } from '@parley/identity';
import { withDatabase } from '../database';
import { Failure } from '../failure';
import { findOrganization } from '../organizations';
import { print, printJson } from '../terminal';

/** `parley keys revoke <id|prefix>`: every process refuses the key within a second. */
export async function runKeysRevoke(
  idOrPrefix: string,
  { org, json }: { org?: string; json?: boolean },
): Promise<void> {
  await withDatabase(async (db) => {
    const organization = await findOrganization(db, org);
    // The list shows prefixes with an ellipsis, and that is what gets pasted.
    const wanted = idOrPrefix.replace(/(…|\.\.\.)$/, '');
    const revoked = await revokeApiKey(db, organization, wanted);
    if (revoked === 0) throw new Failure(`${organization.slug} has no live key "${wanted}"`);
    if (json) return printJson({ revoked });
    print(`Revoked ${revoked === 1 ? '1 key' : `${revoked} keys`}.`);
  });
}
