import type { JsonObject } from '@parley/contracts';
import { type Queryable, type RowOf, column, statement } from '@parley/db';

const organizationRow = {
  id: column.text,
  tenant: column.int4,
  /** Of the identity provider; null for one that was made here. */
  externalId: column.text.nullable,
  slug: column.text,
  name: column.text,
  createdAt: column.timestamptz,
};
export type Organization = RowOf<typeof organizationRow>;

const columns = 'id, no as tenant, external_id as "externalId", slug, name, created_at as "createdAt"';

const organizationsBySlug = statement(
  'list-organizations',
  `select ${columns} from organizations where deleted_at is null and ($1::text is null or slug = $1) order by slug`,
  organizationRow,
);

/** Organizations that are not being deleted, by slug; with `slug` that one alone. */
export async function listOrganizations(db: Queryable, slug?: string): Promise<Organization[]> {
  return (await db.acrossTenants('operator command', organizationsBySlug, [slug ?? null])).rows;
}

const byExternalId = statement(
  'organization-by-external-id',
  'select id, no as tenant, slug, deleted_at is not null as "isDying" from organizations where external_id = $1',
  { id: column.text, tenant: column.int4, slug: column.text, isDying: column.bool },
);

/** The organization that the identity provider names so, also one that is being deleted. */
export async function findByExternalId(tx: Queryable, externalId: string | undefined) {
  return (await tx.acrossTenants('inbound webhook', byExternalId, [externalId])).rows[0];
}

const nameById = statement('prompt-organization', 'select name, timezone from organizations where id = $1', {
  name: column.text,
  timezone: column.text,
});

/** What prompts say of an organization. */
export async function findOrganizationName(db: Queryable, id: string) {
  return (await db.query({ organizationId: id }, nameById, [id])).rows[0] ?? null;
}

const insert = statement(
  'create-organization',
  `insert into organizations (id, slug, name, updated_at) values ($1, $2, $3, now())
   on conflict (slug) do nothing returning ${columns}`,
  organizationRow,
);

/** Makes an organization; null when the slug is taken, also by one that is being deleted. */
export async function insertOrganization(
  db: Queryable,
  { id, slug, name }: { id: string; slug: string; name: string },
): Promise<Organization | null> {
  return (await db.query({ organizationId: id }, insert, [id, slug, name])).rows[0] ?? null;
}

const settingsById = statement('organization-settings', 'select settings from organizations where id = $1', {
  settings: column.jsonb<JsonObject>(),
});

/** The settings of an organization; none when there is no such organization. */
export async function readSettings(db: Queryable, organizationId: string): Promise<JsonObject> {
  return (await db.query({ organizationId }, settingsById, [organizationId])).rows[0]?.settings ?? {};
}

const mergeSettings = statement(
  'change-organization-settings',
  'update organizations set settings = settings || $2::jsonb where id = $1',
);

/** Changes these settings of an organization and leaves the others as they are. */
export async function changeSettings(db: Queryable, organizationId: string, settings: JsonObject): Promise<void> {
  await db.query({ organizationId }, mergeSettings, [organizationId, JSON.stringify(settings)]);
}
