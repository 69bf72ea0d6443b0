import { withDatabase } from '../database';
import { formatTable, formatTime, note, print, printJson } from '../terminal';

interface Listed {
  id: string;
  /** Of the identity provider; null of one that was made here. */
  externalId: string | null;
  slug: string;
  name: string;
  createdAt: Date;
}

/** `parley org list`: every organization that is not being deleted. */
export async function runOrgList({ json }: { json?: boolean }): Promise<void> {
  const organizations = await withDatabase(async ({ pool }) => {
    const { rows } = await pool.query<Listed>(
      `select id, external_id as "externalId", slug, name, created_at as "createdAt"
       from organizations where deleted_at is null order by slug`,
    );
    return rows;
  });
  if (json) return printJson({ organizations });
  if (organizations.length === 0) return note('There is no organization yet; make one with: parley org create');
  const rows = organizations.map(({ slug, name, id, externalId, createdAt }) => [
    slug,
    name,
    id,
    externalId ?? '-',
    formatTime(createdAt),
  ]);
  print(formatTable(['SLUG', 'NAME', 'ID', 'PROVIDER ID', 'CREATED'], rows));
}
