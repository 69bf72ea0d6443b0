import { revokeApiKey } from '@parley/identity';
import { withDatabase } from '../database';
import { Failure } from '../failure';
import { findOrganization } from '../organizations';
import { print, printJson } from '../terminal';

/** `parley keys revoke <id|prefix>`: revokes a key. All processes refuse it within a second. */
export async function runKeysRevoke(
  idOrPrefix: string,
  { org, json }: { org?: string; json?: boolean },
): Promise<void> {
  await withDatabase(async (db) => {
    const organization = await findOrganization(db, org);
    // keys list prints prefixes with an ellipsis, which is copied along with them.
    const name = idOrPrefix.replace(/(…|\.\.\.)$/, '');
    const revoked = await revokeApiKey(db, organization, name);
    if (revoked === 0)
      throw new Failure(`${organization.slug} has no active key "${name}". List its keys with: parley keys list`);
    if (json) return printJson({ revoked });
    print(`Revoked ${revoked === 1 ? '1 key' : `${revoked} keys`}.`);
  });
}
