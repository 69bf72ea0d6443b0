import type { ResourceKind, Scope } from '@parley/contracts';
import { type Queryable, newId, purgeRows, statement } from '@parley/db';
import { deleteShapes } from '@parley/entities';
import { type Definition, slugOf } from './definition';

/**
 * The upsert of one kind. `$rows` is the JSON list of its rows, so that the text of a definition is
 * stored unchanged.
 */
const upsert = (table: string, columns: string[], key = 'slug') => `
  insert into ${table} (id, tenant, environment, ${key}, ${columns.join(', ')}, updated_at)
  select id, $tenant, $environment::"Environment", slug, ${columns.join(', ')}, now()
  from json_to_recordset($rows::json) as r(id text, slug text, name text, enabled boolean, entity_type text,
    action text,
    schema json, search_fields text[], display_config json, definition json)
  on conflict (tenant, environment, ${key}) do update
  set ${columns.map((column) => `${column} = excluded.${column}`).join(', ')},
      revision = ${table}.revision + 1, updated_at = excluded.updated_at`;

const typeColumns = ['name', 'schema', 'search_fields', 'display_config'];
const triggerColumns = ['name', 'enabled', 'entity_type', 'action', 'definition'];

const writes = {
  entityTypes: statement('write-entity-types', upsert('entity_types', typeColumns)),
  roles: statement('write-roles', upsert('roles', ['name', 'definition'])),
  tools: statement('write-tools', upsert('tools', ['definition'], 'name')),
  routers: statement('write-routers', upsert('routers', ['name', 'definition'])),
  triggers: statement('write-triggers', upsert('triggers', triggerColumns)),
};

const prefixes = {
  entityTypes: 'type',
  roles: 'role',
  tools: 'tool',
  routers: 'router',
  triggers: 'trigger',
};

/**
 * The steps of a purge that delete definitions. Triggers are purged with their runs, entity types
 * with their entities.
 */
export const definitionsPurge = [
  ...purgeRows(['agents', 'routers', 'tools', 'roles']),
  ...purgeRows(['environment_states'], 'environment'),
];

/** Creates or replaces these definitions, and increments the revision of those that exist. */
export async function writeDefinitions(
  db: Queryable,
  scope: Scope,
  kind: ResourceKind,
  definitions: Definition[],
): Promise<void> {
  if (definitions.length === 0) return;
  if (kind === 'agents') return writeAgents(db, scope, definitions as Definition<'agents'>[]);
  const rows = definitions.map((definition) => ({
    id: newId(prefixes[kind]),
    ...toRow(kind, definition),
  }));
  await db.query(scope, writes[kind], {
    environment: scope.environment,
    rows: JSON.stringify(rows),
  });
}

function toRow(kind: ResourceKind, definition: Definition): object {
  const row = { slug: slugOf(definition), name: definition.name, definition };
  if (kind === 'entityTypes') {
    const { schema, searchFields = [], displayConfig } = definition as Definition<'entityTypes'>;
    return {
      slug: row.slug,
      name: row.name,
      schema,
      search_fields: searchFields,
      display_config: displayConfig,
    };
  }
  if (kind === 'triggers') {
    const { on, enabled = true } = definition as Definition<'triggers'>;
    return 'entityType' in on
      ? { ...row, enabled, entity_type: on.entityType, action: on.action }
      : { ...row, enabled };
  }
  return row;
}

const addAgents = statement(
  'add-agents',
  `insert into agents (id, tenant, slug)
   select agent_id, $tenant, slug from json_to_recordset($list::json) as r(agent_id text, slug text)
   on conflict (tenant, slug) do nothing`,
);

const writeConfigs = statement(
  'write-agent-configs',
  `insert into agent_configs (id, tenant, agent_id, environment, name, definition, updated_at)
   select r.config_id, $tenant, a.id, $environment::"Environment", r.name, r.definition, now()
   from json_to_recordset($list::json) as r(config_id text, slug text, name text, definition json)
   join agents a on a.tenant = $tenant and a.slug = r.slug
   on conflict (agent_id, environment, tenant) do update
   set name = excluded.name, definition = excluded.definition, revision = agent_configs.revision + 1,
       updated_at = excluded.updated_at`,
);

/**
 * Writes the configurations, and creates the identity of an agent that neither environment has yet.
 */
async function writeAgents(
  db: Queryable,
  scope: Scope,
  agents: Definition<'agents'>[],
): Promise<void> {
  const rows = agents.map(({ slug, ...definition }) => ({
    agent_id: newId('agent'),
    config_id: newId('config'),
    slug,
    name: definition.name,
    definition,
  }));
  const list = JSON.stringify(rows);
  await db.query(scope, addAgents, { list });
  await db.query(scope, writeConfigs, { environment: scope.environment, list });
}

const remove = (table: string, key = 'slug') =>
  `delete from ${table} where tenant = $tenant and environment = $environment::"Environment" and ${key} = any($slugs)`;

const deletes = {
  entityTypes: statement('delete-entity-types', remove('entity_types')),
  roles: statement('delete-roles', remove('roles')),
  tools: statement('delete-tools', remove('tools', 'name')),
  routers: statement('delete-routers', remove('routers')),
  triggers: statement('delete-triggers', remove('triggers')),
};

export async function deleteDefinitions(
  db: Queryable,
  scope: Scope,
  kind: ResourceKind,
  slugs: string[],
): Promise<void> {
  if (slugs.length === 0) return;
  if (kind === 'agents') return deleteAgents(db, scope, slugs);
  if (kind === 'entityTypes') await deleteShapes(db, scope, slugs);
  await db.query(scope, deletes[kind], { environment: scope.environment, slugs });
}

const deleteConfigs = statement(
  'delete-agent-configs',
  `delete from agent_configs c using agents a
   where c.tenant = $tenant and a.tenant = $tenant and a.id = c.agent_id
     and c.environment = $environment::"Environment" and a.slug = any($slugs)`,
);

const deleteUnconfigured = statement(
  'delete-unconfigured-agents',
  `delete from agents a where a.tenant = $tenant and a.slug = any($slugs)
     and not exists (select 1 from agent_configs c where c.tenant = $tenant and c.agent_id = a.id)`,
);

/**
 * Deletes the configurations of this environment, and the agents that have no configuration in
 * any environment.
 */
async function deleteAgents(db: Queryable, scope: Scope, slugs: string[]): Promise<void> {
  await db.query(scope, deleteConfigs, { environment: scope.environment, slugs });
  await db.query(scope, deleteUnconfigured, { slugs });
}
