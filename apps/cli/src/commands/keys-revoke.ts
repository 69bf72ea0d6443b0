import { revokeApiKey } from '@parley/identity';
import { withDatabase } from '../database';
import { Failure } from '../failure';
import { findOrganization } from '../organizations';
import { secretOf } from '../secrets';
import { print, printJson } from '../terminal';

/** `parley keys revoke <key>`: revokes a key. All processes refuse it within a second. The whole key is never printed. */
export async function runKeysRevoke(argument: string, { org, json }: { org?: string; json?: boolean }): Promise<void> {
  const key = await secretOf(argument);
  await withDatabase(async (db) => {
    const organization = await findOrganization(db, org);
    // keys list prints prefixes with an ellipsis, which is copied along with them.
    const name = key.replace(/(…|\.\.\.)$/, '');
    const revoked = await revokeApiKey(db, organization, name);
    if (revoked === 0)
      throw new Failure(
        `${organization.slug} has no active key "${visiblePart(name)}". List its keys with: parley keys list`,
      );
    if (json) return printJson({ revoked });
    print(`Revoked ${revoked === 1 ? '1 key' : `${revoked} keys`}.`);
  });
}

const visiblePart = (key: string): string => key.replace(/^(sk_(?:dev|prod)_.{6}).+$/s, '$1…');
