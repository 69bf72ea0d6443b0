import { createHash } from 'node:crypto';
import { type ResourceKind, type Scope, resourceKinds } from '@parley/contracts';
import {
  type Queryable,
  type RowOf,
  type Statement,
  column,
  listEnvironmentIntegrations,
  statement,
} from '@parley/db';
import { type Definition, forEachKind } from './definition';

export interface StoredResource {
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

/**
 * SQL of the definitions of a kind: its tables, the column of its slug, the columns that are read,
 * and the size of a definition.
 */
interface KindSql {
  from: string;
  slug: string;
  columns: string;
  bytes: string;
}
const inEnvironment = 'where tenant = $tenant and environment = $environment::"Environment"';
const bytesOf = (definition: string) => `octet_length(${definition}::text)`;
const plain = (table: string): KindSql => ({
  from: `from ${table} ${inEnvironment}`,
  slug: 'slug',
  columns: 'slug, name, revision, definition',
  bytes: bytesOf('definition'),
});

const kinds: Record<ResourceKind, KindSql> = {
  entityTypes: {
    from: `from entity_types ${inEnvironment}`,
    slug: 'slug',
    columns: 'slug, name, revision, schema, search_fields, display_config',
    bytes: `${bytesOf('schema')} + coalesce(${bytesOf('display_config')}, 0) + ${bytesOf('search_fields')}`,
  },
  roles: plain('roles'),
  tools: {
    from: `from tools ${inEnvironment}`,
    slug: 'name',
    columns: 'name as slug, name, revision, definition',
    bytes: bytesOf('definition'),
  },
  agents: {
    from: `from agents a join agent_configs c on c.agent_id = a.id
      where a.tenant = $tenant and c.tenant = $tenant and c.environment = $environment::"Environment"`,
    slug: 'a.slug',
    columns: 'a.id, a.slug, c.name, c.revision, c.definition',
    bytes: bytesOf('c.definition'),
  },
  routers: plain('routers'),
  triggers: plain('triggers'),
};

const hashedHandler = `jsonb_set(definition::jsonb, '{handlerCode}', to_jsonb(encode(sha256(convert_to(definition->>'handlerCode', 'UTF8')), 'hex')))`;
const withoutCode = `name as slug, name, revision, ${hashedHandler} as definition`;

function allOf(kind: ResourceKind): string {
  const { columns, from, slug } = kinds[kind];
  return `select ${kind === 'tools' ? withoutCode : columns} ${from} order by ${slug} collate "C"`;
}

const selects: Record<ResourceKind, Statement<Row>> = {
  entityTypes: statement('stored-entity-types', allOf('entityTypes'), typeRow),
  roles: statement('stored-roles', allOf('roles'), plainRow),
  tools: statement('stored-tools', allOf('tools'), plainRow),
  agents: statement('stored-agents', allOf('agents'), agentRow),
  routers: statement('stored-routers', allOf('routers'), plainRow),
  triggers: statement('stored-triggers', allOf('triggers'), plainRow),
};

/** The hash of a handler, as a stored tool has it in place of its code. */
export const handlerHash = (handlerCode: string): string =>
  createHash('sha256').update(handlerCode).digest('hex');

/**
 * All definitions of an environment. Tools have `handlerHash` in place of their code: the code of a
 * thousand tools would be hundreds of megabytes, and a push compares it only.
 */
export async function readStoredResources(db: Queryable, scope: Scope): Promise<StoredResources> {
  const stored: StoredResources = forEachKind(() => new Map());
  for (const kind of resourceKinds) {
    const { rows } = await db.query(scope, selects[kind], { environment: scope.environment });
    for (const row of rows) stored[kind].set(row.slug, toStored(kind, row));
  }
  return stored;
}

const sizesOfEnvironment = statement(
  'sizes-of-definitions',
  resourceKinds
    .map((kind) => {
      const { slug, bytes, from } = kinds[kind];
      return `select '${kind}' as kind, ${slug} as slug, ${bytes} as bytes ${from}`;
    })
    .join(' union all '),
  { kind: column.oneOf<ResourceKind>(), slug: column.text, bytes: column.int4 },
);

export interface DefinitionSize {
  kind: ResourceKind;
  slug: string;
  /** Size of its JSON. */
  bytes: number;
}

/** The sizes of all definitions of an environment. */
export async function readSizes(db: Queryable, scope: Scope): Promise<DefinitionSize[]> {
  return (await db.query(scope, sizesOfEnvironment, { environment: scope.environment })).rows;
}

/** Size of the definitions that a process holds at once while it reads all of them. */
const batchBytes = 262_144;

function someOf(kind: ResourceKind): string {
  const { columns, from, slug } = kinds[kind];
  return `select ${columns} ${from} and ${slug} = any($slugs) order by ${slug} collate "C"`;
}

const batches: Record<ResourceKind, Statement<Row>> = {
  entityTypes: statement('some-entity-types', someOf('entityTypes'), typeRow),
  roles: statement('some-roles', someOf('roles'), plainRow),
  tools: statement('some-tools', someOf('tools'), plainRow),
  agents: statement('some-agents', someOf('agents'), agentRow),
  routers: statement('some-routers', someOf('routers'), plainRow),
  triggers: statement('some-triggers', someOf('triggers'), plainRow),
};

/**
 * The definitions of a kind in the order of their slugs, in batches that a process can hold.
 * `sizes`: of `readSizes`.
 */
export async function* readBatches(
  db: Queryable,
  scope: Scope,
  kind: ResourceKind,
  sizes: readonly DefinitionSize[],
): AsyncGenerator<StoredResource[]> {
  const left = sizes
    .filter((one) => one.kind === kind)
    .sort((a, b) => Buffer.compare(Buffer.from(a.slug), Buffer.from(b.slug)));
  while (left.length > 0) {
    let bytes = left[0]!.bytes;
    let count = 1;
    while (count < left.length && (bytes += left[count]!.bytes) <= batchBytes) count += 1;
    const slugs = left.splice(0, count).map(({ slug }) => slug);
    const { rows } = await db.query(scope, batches[kind], {
      environment: scope.environment,
      slugs,
    });
    yield rows.map((row) => toStored(kind, row));
  }
}

function toStored(kind: ResourceKind, row: Row): StoredResource {
  const { slug, name, revision } = row;
  if ('schema' in row) return { slug, name, revision, definition: toEntityType(row) };
  // The slug is stored with the agent's identity, which both environments share, and not in
  // its configuration.
  const definition = kind === 'agents' ? { slug, ...row.definition } : row.definition;
  return {
    ...('id' in row && { id: row.id }),
    slug,
    name,
    revision,
    definition: definition as Definition,
  };
}

function toEntityType({
  slug,
  name,
  schema,
  search_fields,
  display_config,
}: TypeRow): Definition<'entityTypes'> {
  return {
    slug,
    name,
    schema,
    ...(search_fields.length > 0 ? { searchFields: search_fields } : {}),
    ...(display_config == null ? {} : { displayConfig: display_config }),
  };
}

/**
 * The tool namespaces (`mcp.<server>`) of the MCP servers that are configured in an environment.
 */
export async function readMcpServers(db: Queryable, scope: Scope): Promise<string[]> {
  const providers = (await listEnvironmentIntegrations(db, scope)).map(({ provider }) => provider);
  return providers.filter((provider) => provider.startsWith('mcp.'));
}

const version = statement(
  'environment-version',
  'select version from environment_states where tenant = $tenant and environment = $environment::"Environment"',
  { version: column.int4 },
);

/** The version of an environment: the number of pushes that changed something. */
export async function readVersion(db: Queryable, scope: Scope): Promise<number> {
  const { rows } = await db.query(scope, version, { environment: scope.environment });
  return rows[0]?.version ?? 0;
}

/** Makes a transaction read one consistent state of the environment, even during a push. */
export const readOnlySnapshot = statement(
  'read-only-snapshot',
  'set transaction isolation level repeatable read, read only',
);
