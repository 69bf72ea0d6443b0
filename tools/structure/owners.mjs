// The owner of each table. Only the owner writes a table and names it in SQL; others call the
// owner's functions or embed a fragment that it exports. Exceptions are listed below with their
// reason. The list must not grow.

const owned = {
  'libs/audit': ['audit_log'],
  'libs/agents': [
    'execution_prompts',
    'execution_rollups',
    'execution_statistics',
    'executions',
    'routers',
    'thread_messages',
    'thread_visits',
    'threads',
    'tool_calls',
  ],
  'libs/channels': [
    'blobs',
    'channel_connections',
    'contact_aliases',
    'emails',
    'messages',
    'provider_statuses',
  ],
  'libs/db': ['idempotency_records', 'integrations'],
  'libs/entities': [
    'entities',
    'entity_fields',
    'entity_relations',
    'entity_shapes',
    'entity_types',
  ],
  'libs/events': ['events'],
  'libs/identity': [
    'api_keys',
    'identity_tombstones',
    'invitations',
    'memberships',
    'organization_purges',
    'organizations',
    'password_salts',
    'passwords',
    'person_links',
    'publishable_keys',
    'sessions',
    'user_identities',
    'users',
  ],
  'libs/payments': [
    'credit_entries',
    'payment_orders',
    'payment_reconciliations',
    'processed_payments',
  ],
  'libs/permissions': ['roles'],
  'libs/resources': ['agent_configs', 'agents', 'environment_states'],
  'libs/tools': ['tool_secrets', 'tools'],
  'libs/triggers': ['trigger_runs', 'triggers'],
  'libs/webhooks': ['webhook_deliveries'],
};

/** @type {Record<string, string>} */
export const ownerOf = Object.fromEntries(
  Object.entries(owned).flatMap(([owner, tables]) => tables.map((table) => [table, owner])),
);

/**
 * libs/resources writes definitions with table names in variables, so these writes do not
 * appear in its SQL.
 */
const definition =
  'definitions are written by libs/resources and read by the library that runs them';

/** @type {{ table: string, place: string, reason: string }[]} */
export const readers = [
  { table: 'agent_configs', place: 'libs/agents', reason: definition },
  { table: 'agents', place: 'libs/agents', reason: definition },
  { table: 'entity_types', place: 'libs/resources', reason: definition },
  { table: 'tools', place: 'libs/resources', reason: definition },
  {
    table: 'events',
    place: 'libs/triggers',
    reason: 'claiming a run reads its event in the same statement',
  },
  {
    table: 'integrations',
    place: 'libs/payments',
    reason: 'the lease of a reconciliation is taken only while its integration exists',
  },
  {
    table: 'organizations',
    place: 'libs/channels',
    reason: 'a delivery for a deleted organization is refused without a further statement',
  },
  {
    table: 'organizations',
    place: 'libs/db',
    reason: 'integrations of deleted organizations are left out; libs/db is below libs/identity',
  },
  {
    table: 'organizations',
    place: 'libs/triggers',
    reason: 'the time zone decides what is due, in the statement that claims it',
  },
  {
    table: 'organizations',
    place: 'libs/webhooks',
    reason: 'lists of deliveries show the slug of the organization',
  },
];
