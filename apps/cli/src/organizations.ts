import type { Queryable } from '@parley/db';
import { type Organization, listOrganizations } from '@parley/identity';
import { Failure } from './failure';

export const demoSlug = 'demo';

/** The organization with this slug; defaults to the only organization, or the demo. */
export async function findOrganization(db: Queryable, slug: string | undefined): Promise<Organization> {
  const rows = await listOrganizations(db, slug);
  if (slug !== undefined && rows.length === 0)
    throw new Failure(`No organization has the slug "${slug}". List them with: parley org list`);
  const found = rows.length === 1 ? rows[0] : rows.find((row) => row.slug === demoSlug);
  if (found !== undefined) return found;
  if (rows.length === 0) throw new Failure('There is no organization yet. Create one with: parley org create');
  throw new Failure(`There are several organizations. Choose one with --org ${listOf(rows.map((row) => row.slug))}`);
}

/** An organization as `--json` shows it, without its internal number. */
export const shownOrganization = ({ tenant: _tenant, ...shown }: Organization) => shown;

const listOf = (slugs: string[]): string =>
  slugs.length <= 10 ? slugs.join(' | ') : `${slugs.slice(0, 10).join(' | ')} | … (${slugs.length} in total)`;
