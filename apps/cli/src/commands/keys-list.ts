import { type ApiKeySummary, listApiKeys } from '@parley/identity';
import { withDatabase } from '../database';
import { findOrganization } from '../organizations';
import { formatTable, note, print, printJson } from '../terminal';

/** `parley keys list`: prints the prefixes of an organization's keys with their settings, newest first. */
export async function runKeysList({ org, json }: { org?: string; json?: boolean }): Promise<void> {
  const { slug, keys } = await withDatabase(async (db) => {
    const organization = await findOrganization(db, org);
    return { slug: organization.slug, keys: await listApiKeys(db, organization) };
  });
  if (json) return printJson({ keys });
  if (keys.length === 0) return note(`${slug} has no keys`);
  const header = ['ID', 'NAME', 'KEY', 'ENVIRONMENT', 'PERMISSIONS', 'ROLE', 'LAST USED', 'STATUS'];
  print(formatTable(header, keys.map(toRow)));
}

const toRow = (key: ApiKeySummary): string[] => [
  key.id,
  key.name,
  `${key.prefix}…`,
  key.environment,
  key.permissions.join(','),
  key.role ?? '-',
  key.lastUsedAt?.toISOString().slice(0, 16) ?? 'never',
  statusOf(key, Date.now()),
];

function statusOf({ revokedAt, expiresAt }: ApiKeySummary, nowMs: number): string {
  if (revokedAt !== null) return `revoked ${revokedAt.toISOString().slice(0, 10)}`;
  if (expiresAt === null) return 'active';
  return `${expiresAt.getTime() <= nowMs ? 'expired' : 'expires'} ${expiresAt.toISOString().slice(0, 10)}`;
}
