import { type ResourceKind, type Scope, resourceKinds } from '@parley/contracts';
import { type Queryable, type RowOf, type Statement, column, listEnvironmentIntegrations, statement } from '@parley/db';
import { type Definition, forEachKind } from './definition';

interface StoredResource {
  /** Only of an agent. */
  id?: string;
  slug: string;
  name: string;
  /** Number of pushes that changed the definition. */
  revision: number;
  definition: Definition;
}

/** All definitions of an environment by kind and slug. Slugs are in byte order. */
export type StoredResources = Record<ResourceKind, Map<string, StoredResource>>;

const inEnvironment = 'tenant = $1 and environment = $2::"Environment" order by slug collate "C"';
const common = { slug: column.text, name: column.text, revision: column.int4 };
const plainRow = { ...common, definition: column.jsonb<object>() };
const agentRow = { ...plainRow, id: column.text };
const typeRow = {
  ...common,
  schema: column.jsonb<Definition<'entityTypes'>['schema']>(),
  search_fields: column.textArray,
  display_config: column.jsonb<Definition<'entityTypes'>['displayConfig']>().nullable,
};
type TypeRow = RowOf<typeof typeRow>;
type Row = RowOf<typeof plainRow> | RowOf<typeof agentRow> | TypeRow;

const plain = (table: string) => `select slug, name, revision, definition from ${table} where ${inEnvironment}`;

const selects: Record<ResourceKind, Statement<Row>> = {
  entityTypes: statement(
    'stored-entity-types',
    `select slug, name, revision, schema, search_fields, display_config from entity_types where ${inEnvironment}`,
    typeRow,
  ),
  roles: statement('stored-roles', plain('roles'), plainRow),
  tools: statement(
    'stored-tools',
    `select name as slug, name, revision, definition from tools where tenant = $1
     and environment = $2::"Environment" order by name collate "C"`,
    plainRow,
  ),
  agents: statement(
    'stored-agents',
    `select a.id, a.slug, c.name, c.revision, c.definition from agents a join agent_configs c on c.agent_id = a.id
     where a.tenant = $1 and c.tenant = $1 and c.environment = $2::"Environment" order by a.slug collate "C"`,
    agentRow,
  ),
  routers: statement('stored-routers', plain('routers'), plainRow),
  triggers: statement('stored-triggers', plain('triggers'), plainRow),
};

export async function readStoredResources(db: Queryable, scope: Scope): Promise<StoredResources> {
  const stored: StoredResources = forEachKind(() => new Map());
  for (const kind of resourceKinds) {
    const { rows } = await db.query(scope, selects[kind], [scope.tenant, scope.environment]);
    for (const row of rows) stored[kind].set(row.slug, toStored(kind, row));
  }
  return stored;
}

function toStored(kind: ResourceKind, row: Row): StoredResource {
  const { slug, name, revision } = row;
  if ('schema' in row) return { slug, name, revision, definition: toEntityType(row) };
  // The slug is stored with the agent's identity, which both environments share, and not in its configuration.
  const definition = kind === 'agents' ? { slug, ...row.definition } : row.definition;
  return { ...('id' in row && { id: row.id }), slug, name, revision, definition: definition as Definition };
}

function toEntityType({ slug, name, schema, search_fields, display_config }: TypeRow): Definition<'entityTypes'> {
  return {
    slug,
    name,
    schema,
    ...(search_fields.length > 0 ? { searchFields: search_fields } : {}),
    ...(display_config == null ? {} : { displayConfig: display_config }),
  };
}

/** The tool namespaces (`mcp.<server>`) of the MCP servers that are configured in an environment. */
export async function readMcpServers(db: Queryable, scope: Scope): Promise<string[]> {
  const providers = (await listEnvironmentIntegrations(db, scope)).map(({ provider }) => provider);
  return providers.filter((provider) => provider.startsWith('mcp.'));
}

const version = statement(
  'environment-version',
  'select version from environment_states where tenant = $1 and environment = $2::"Environment"',
  { version: column.int4 },
);

/** The version of an environment: the number of pushes that changed something. */
export async function readVersion(db: Queryable, scope: Scope): Promise<number> {
  const { rows } = await db.query(scope, version, [scope.tenant, scope.environment]);
  return rows[0]?.version ?? 0;
}

/** Makes a transaction read one consistent state of the environment, even during a push. */
export const readOnlySnapshot = statement(
  'read-only-snapshot',
  'set transaction isolation level repeatable read, read only',
);
