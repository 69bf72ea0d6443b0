import { type ResourceKind, type Scope, resourceKinds } from '@parley/contracts';
import { type Queryable, listEnvironmentIntegrations } from '@parley/db';
import { type Definition, forEachKind } from './definition';

interface StoredResource {
  slug: string;
  name: string;
  /** Counts the pushes that changed it. */
  revision: number;
  definition: Definition;
}

/** Everything that an environment holds, by kind and slug; slugs in the order of their bytes. */
export type StoredResources = Record<ResourceKind, Map<string, StoredResource>>;

const inEnvironment = 'organization_id = $1 and environment = $2::"Environment" order by slug collate "C"';
const plain = (table: string) => `select slug, name, revision, definition from ${table} where ${inEnvironment}`;

const selects: Record<ResourceKind, string> = {
  entityTypes: `select slug, name, revision, schema, search_fields, display_config from entity_types where ${inEnvironment}`,
  roles: plain('roles'),
  tools: `select name as slug, name, revision, definition from tools where organization_id = $1
          and environment = $2::"Environment" order by name collate "C"`,
  agents: `select a.slug, c.name, c.revision, c.definition from agents a join agent_configs c on c.agent_id = a.id
           where a.organization_id = $1 and c.environment = $2::"Environment" order by a.slug collate "C"`,
  routers: plain('routers'),
  triggers: plain('triggers'),
};

export async function readStoredResources(db: Queryable, scope: Scope): Promise<StoredResources> {
  const stored: StoredResources = forEachKind(() => new Map());
  for (const kind of resourceKinds) {
    const { rows } = await db.raw<Row>(selects[kind], [scope.organizationId, scope.environment]);
    for (const row of rows) stored[kind].set(row.slug, toStored(kind, row));
  }
  return stored;
}

interface Row {
  slug: string;
  name: string;
  revision: number;
  definition: object;
  schema?: Definition<'entityTypes'>['schema'];
  search_fields?: string[] | null;
  display_config?: Definition<'entityTypes'>['displayConfig'] | null;
}

function toStored(kind: ResourceKind, row: Row): StoredResource {
  const { slug, name, revision } = row;
  if (kind === 'entityTypes') return { slug, name, revision, definition: toEntityType(row) };
  // An agent's slug is its identity, shared by both environments, and not part of a configuration.
  const definition = kind === 'agents' ? { slug, ...row.definition } : row.definition;
  return { slug, name, revision, definition: definition as Definition };
}

function toEntityType({ slug, name, schema, search_fields, display_config }: Row): Definition<'entityTypes'> {
  return {
    slug,
    name,
    schema: schema!,
    ...(search_fields?.length ? { searchFields: search_fields } : {}),
    ...(display_config == null ? {} : { displayConfig: display_config }),
  };
}

/** The namespaces of the MCP servers that an environment has configured: `mcp.<server>`. */
export async function readMcpServers(db: Queryable, scope: Scope): Promise<string[]> {
  const providers = (await listEnvironmentIntegrations(db, scope)).map(({ provider }) => provider);
  return providers.filter((provider) => provider.startsWith('mcp.'));
}

/** The version of an environment: grows with every push that changes something, 0 before the first. */
export async function readVersion(db: Queryable, scope: Scope): Promise<number> {
  const { rows } = await db.raw<{ version: number }>(
    'select version from environment_states where organization_id = $1 and environment = $2::"Environment"',
    [scope.organizationId, scope.environment],
  );
  return rows[0]?.version ?? 0;
}

/** A transaction that sees one moment of the environment, whatever is pushed meanwhile. */
export const readOnlySnapshot = 'set transaction isolation level repeatable read, read only';
