import { listOrganizations } from '@parley/identity';
import { withDatabase } from '../database';
import { shownOrganization } from '../organizations';
import { formatTable, formatTime, note, print, printJson } from '../terminal';

/** `parley org list`: prints all organizations that are not being deleted. */
export async function runOrgList({ json }: { json?: boolean }): Promise<void> {
  const organizations = await withDatabase((db) => listOrganizations(db));
  if (json) return printJson({ organizations: organizations.map(shownOrganization) });
  if (organizations.length === 0)
    return note('There is no organization yet. Create one with: parley org create');
  const rows = organizations.map(({ slug, name, id, externalId, createdAt }) => [
    slug,
    name,
    id,
    externalId ?? '-',
    formatTime(createdAt),
  ]);
  print(formatTable(['SLUG', 'NAME', 'ID', 'PROVIDER ID', 'CREATED'], rows));
}
