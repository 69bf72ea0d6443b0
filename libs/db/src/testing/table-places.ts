/**
 * Where the rows of each table belong when tenants are spread over machines (docs/scaling.md): every machine has a whole
 * copy of a reference table; the rows of a table with a key of its own are spread by that key; all other tables are
 * spread by `tenant`, which is part of their keys.
 */
export const referenceTables: readonly string[] = [
  'api_keys',
  'channel_connections',
  'identity_tombstones',
  'memberships',
  'organization_purges',
  'organizations',
  'processed_payments',
  'shared_messaging_secrets',
  'users',
];

/** The column that a table is spread by when its rows may belong to nobody. */
export const ownKeys: Readonly<Record<string, string>> = {
  provider_statuses: 'external_id',
  webhook_deliveries: 'delivery_id',
};

/** For a database: its tables that are spread by tenant, in the order of their names. */
export const tenantTablesSql = `select c.relname as name from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    and c.relname <> '_prisma_migrations'
    and c.relname <> all (array[${[...referenceTables, ...Object.keys(ownKeys)].map((name) => `'${name}'`).join(', ')}])
  order by 1`;
