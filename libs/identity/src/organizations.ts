import {
  type ConversationSettings,
  type JsonObject,
  conversationSettingsSchema,
} from '@parley/contracts';
import { type Queryable, type RowOf, column, statement } from '@parley/db';

const organizationRow = {
  id: column.text,
  tenant: column.int4,
  /** The identity provider's id; null for an organization that was created here. */
  externalId: column.text.nullable,
  slug: column.text,
  name: column.text,
  createdAt: column.timestamptz,
};
export type Organization = RowOf<typeof organizationRow>;

const columns =
  'id, no as tenant, external_id as "externalId", slug, name, created_at as "createdAt"';

const organizationsBySlug = statement(
  'list-organizations',
  `select ${columns} from organizations where deleted_at is null and ($slug::text is null or slug = $slug)
     order by slug`,
  organizationRow,
);

/** Lists organizations that are not being deleted, ordered by slug, or the one with `slug`. */
export async function listOrganizations(db: Queryable, slug?: string): Promise<Organization[]> {
  return (await db.acrossTenants('operator command', organizationsBySlug, { slug: slug ?? null }))
    .rows;
}

const byExternalId = statement(
  'organization-by-external-id',
  'select id, no as tenant, slug, deleted_at is not null as "isDeleting" from organizations where external_id = $externalId',
  { id: column.text, tenant: column.int4, slug: column.text, isDeleting: column.bool },
);

/** Finds an organization by the identity provider's id, including one that is being deleted. */
export async function findByExternalId(tx: Queryable, externalId: string | undefined) {
  return (await tx.acrossTenants('inbound webhook', byExternalId, { externalId })).rows[0];
}

const nameById = statement(
  'prompt-organization',
  'select slug, name, timezone from organizations where id = $id',
  {
    slug: column.text,
    name: column.text,
    timezone: column.text,
  },
);

/** Returns the slug, name and time zone of an organization. */
export async function findOrganizationName(db: Queryable, id: string) {
  return (await db.query({ organizationId: id }, nameById, { id })).rows[0] ?? null;
}

const insert = statement(
  'create-organization',
  `insert into organizations (id, slug, name, updated_at) values ($id, $slug, $name, now())
   on conflict (slug) do nothing returning ${columns}`,
  organizationRow,
);

/** Creates an organization; null when the slug is taken, possibly by one that is being deleted. */
export async function insertOrganization(
  db: Queryable,
  { id, slug, name }: { id: string; slug: string; name: string },
): Promise<Organization | null> {
  return (await db.query({ organizationId: id }, insert, { id, slug, name })).rows[0] ?? null;
}

const settingsById = statement(
  'organization-settings',
  'select settings from organizations where id = $organizationId',
  {
    settings: column.jsonb<JsonObject>(),
  },
);

/** Reads the settings of an organization; empty when it does not exist. */
export async function readSettings(db: Queryable, organizationId: string): Promise<JsonObject> {
  return (
    (await db.query({ organizationId }, settingsById, { organizationId })).rows[0]?.settings ?? {}
  );
}

const mergeSettings = statement(
  'change-organization-settings',
  'update organizations set settings = settings || $settings::jsonb where id = $organizationId',
);

/** Changes the given settings of an organization and keeps the others. */
export async function changeSettings(
  db: Queryable,
  organizationId: string,
  settings: JsonObject,
): Promise<void> {
  await db.query({ organizationId }, mergeSettings, {
    organizationId,
    settings: JSON.stringify(settings),
  });
}

const profileRow = {
  id: column.text,
  slug: column.text,
  externalId: column.text.nullable,
  name: column.text,
  timezone: column.text,
  /** The settings of conversations that were changed. */
  conversations: column.jsonb<Partial<ConversationSettings>>().nullable,
};
const profile = `o.id, o.slug, o.external_id as "externalId", o.name, o.timezone, o.settings->'conversations' as conversations`;

const profileById = statement(
  'read-organization',
  `select ${profile} from organizations o where o.id = $organizationId`,
  profileRow,
);

const withDefaults = <T extends { conversations: Partial<ConversationSettings> | null }>(
  row: T,
) => ({
  ...row,
  conversations: conversationSettingsSchema.parse(row.conversations ?? {}),
});

/** The name, time zone and settings of an organization. */
export async function readOrganization(db: Queryable, organizationId: string) {
  return withDefaults(
    (await db.query({ organizationId }, profileById, { organizationId })).rows[0]!,
  );
}

const changeProfile = statement(
  'change-organization',
  `with old as (select id, name, timezone, settings from organizations where id = $organizationId for update)
   update organizations o set name = coalesce($name, o.name), timezone = coalesce($timezone, o.timezone),
     updated_at = now(),
     settings = case when $settings::jsonb is null then o.settings else jsonb_set(o.settings, '{conversations}',
       coalesce(o.settings->'conversations', '{}') || $settings) end
   from old where o.id = old.id
   returning ${profile}, old.name as "nameBefore", old.timezone as "timezoneBefore",
     old.settings->'conversations' as "conversationsBefore"`,
  {
    ...profileRow,
    nameBefore: column.text,
    timezoneBefore: column.text,
    conversationsBefore: column.jsonb<Partial<ConversationSettings>>().nullable,
  },
);

/** Changes the given fields of an organization. Returns it with the values before. */
export async function changeOrganization(
  tx: Queryable,
  organizationId: string,
  {
    name,
    timezone,
    conversations,
  }: { name?: string; timezone?: string; conversations?: Partial<ConversationSettings> },
) {
  const settings = conversations === undefined ? null : JSON.stringify(conversations);
  const { rows } = await tx.query({ organizationId }, changeProfile, {
    organizationId,
    name,
    timezone,
    settings,
  });
  return withDefaults(rows[0]!);
}
