import type { JsonObject } from '@parley/contracts';
import type { Queryable } from '@parley/db';

export interface Organization {
  id: string;
  /** Of the identity provider; null for one that was made here. */
  externalId: string | null;
  slug: string;
  name: string;
  createdAt: Date;
}

const columns = 'id, external_id as "externalId", slug, name, created_at as "createdAt"';

/** Organizations that are not being deleted, by slug; with `slug` that one alone. */
export async function listOrganizations(db: Queryable, slug?: string): Promise<Organization[]> {
  const { rows } = await db.raw<Organization>(
    `select ${columns} from organizations where deleted_at is null and ($1::text is null or slug = $1) order by slug`,
    [slug ?? null],
  );
  return rows;
}

/** What prompts say of an organization. */
export async function findOrganizationName(db: Queryable, id: string) {
  const { rows } = await db.raw<{ name: string; timezone: string }>({
    name: 'prompt-organization',
    text: 'select name, timezone from organizations where id = $1',
    values: [id],
  });
  return rows[0] ?? null;
}

/** Makes an organization; null when the slug is taken, also by one that is being deleted. */
export async function insertOrganization(
  db: Queryable,
  { id, slug, name }: { id: string; slug: string; name: string },
): Promise<Organization | null> {
  const { rows } = await db.raw<Organization>(
    `insert into organizations (id, slug, name, updated_at) values ($1, $2, $3, now())
     on conflict (slug) do nothing returning ${columns}`,
    [id, slug, name],
  );
  return rows[0] ?? null;
}

/** The settings of an organization; none when there is no such organization. */
export async function readSettings(db: Queryable, organizationId: string): Promise<JsonObject> {
  const { rows } = await db.raw<{ settings: JsonObject }>('select settings from organizations where id = $1', [
    organizationId,
  ]);
  return rows[0]?.settings ?? {};
}

/** Changes these settings of an organization and leaves the others as they are. */
export async function changeSettings(db: Queryable, organizationId: string, settings: JsonObject): Promise<void> {
  await db.raw('update organizations set settings = settings || $2::jsonb where id = $1', [
    organizationId,
    JSON.stringify(settings),
  ]);
}
