import type { Queryable } from '@parley/db';
import { Failure } from './failure';

export const demoSlug = 'demo';

export interface Organization {
  id: string;
  slug: string;
}

/** The organization with this slug; without one the only organization, else the demo. */
export async function findOrganization(db: Queryable, slug: string | undefined): Promise<Organization> {
  const { rows } = await db.query<Organization>(
    'select id, slug from organizations where deleted_at is null and ($1::text is null or slug = $1) order by slug',
    [slug ?? null],
  );
  if (slug !== undefined && rows.length === 0) throw new Failure(`No organization has the slug "${slug}"`);
  const found = rows.length === 1 ? rows[0] : rows.find((row) => row.slug === demoSlug);
  if (found !== undefined) return found;
  if (rows.length === 0) throw new Failure('There is no organization yet; make one with: parley org create');
  throw new Failure(`Which organization? Say --org ${listOf(rows.map((row) => row.slug))}`);
}

const listOf = (slugs: string[]): string =>
  slugs.length <= 10 ? slugs.join(' | ') : `${slugs.slice(0, 10).join(' | ')} | … (${slugs.length} in all)`;

/** Makes an organization; null when the slug is taken, by one that is being deleted too. */
export async function insertOrganization(
  db: Queryable,
  { id, slug, name }: { id: string; slug: string; name: string },
): Promise<Organization | null> {
  const { rows } = await db.query<Organization>(
    `insert into organizations (id, slug, name, updated_at) values ($1, $2, $3, now())
     on conflict (slug) do nothing returning id, slug`,
    [id, slug, name],
  );
  return rows[0] ?? null;
}
