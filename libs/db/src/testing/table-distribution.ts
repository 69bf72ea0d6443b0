/**
 * The distribution of the rows of each table over the nodes of a distributed database
 * (docs/scaling.md). Each node has a full copy of a reference table. A table with its own
 * key is distributed by that key. All other tables are distributed by `tenant`, which is
 * part of their keys.
 */
export const referenceTables: readonly string[] = [
  'api_keys',
  'channel_connections',
  'identity_tombstones',
  'invitations',
  'memberships',
  'organization_purges',
  'organizations',
  'password_salts',
  'passwords',
  'person_links',
  'processed_payments',
  'publishable_keys',
  'sessions',
  'user_identities',
  'users',
];

/** The distribution column of tables whose rows may have no tenant. */
export const ownKeys: Readonly<Record<string, string>> = {
  provider_statuses: 'external_id',
  webhook_deliveries: 'delivery_id',
};

/** Returns the tables that are distributed by tenant, in the order of their names. */
export const tenantTablesSql = `select c.relname as name from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    and c.relname <> '_prisma_migrations'
    and c.relname <> all (array[${[...referenceTables, ...Object.keys(ownKeys)].map((name) => `'${name}'`).join(', ')}])
  order by 1`;
