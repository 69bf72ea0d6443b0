import type { ResourceKind, Scope } from '@parley/contracts';
import { type Queryable, newId, purgeRows } from '@parley/db';
import { deleteShapes } from '@parley/entities';
import { type Definition, slugOf } from './definition';

/** One statement a kind: `$3` is the JSON list of its rows, so that the text of a definition is stored as it is. */
const upsert = (table: string, key: string, prefix: string, columns: string[]) => ({
  prefix,
  text: `
    insert into ${table} (id, organization_id, environment, ${key}, ${columns.join(', ')}, updated_at)
    select id, $1, $2::"Environment", slug, ${columns.join(', ')}, now()
    from json_to_recordset($3::json) as r(id text, slug text, name text, enabled boolean, entity_type text, action text,
      schema json, search_fields text[], display_config json, definition json)
    on conflict (organization_id, environment, ${key}) do update
    set ${columns.map((column) => `${column} = excluded.${column}`).join(', ')},
        revision = ${table}.revision + 1, updated_at = now()`,
});

const upserts = {
  entityTypes: upsert('entity_types', 'slug', 'type', ['name', 'schema', 'search_fields', 'display_config']),
  roles: upsert('roles', 'slug', 'role', ['name', 'definition']),
  tools: upsert('tools', 'name', 'tool', ['definition']),
  routers: upsert('routers', 'slug', 'router', ['name', 'definition']),
  triggers: upsert('triggers', 'slug', 'trigger', ['name', 'enabled', 'entity_type', 'action', 'definition']),
};

const tables = {
  entityTypes: 'entity_types',
  roles: 'roles',
  tools: 'tools',
  routers: 'routers',
  triggers: 'triggers',
};

/** What a purge deletes of definitions; triggers and entity types go with their runs and entities. */
export const definitionsPurge = purgeRows('agents', 'routers', 'tools', 'roles', 'environment_states');

/** Creates or replaces these definitions; each one that exists gets its next revision. */
export async function writeDefinitions(
  db: Queryable,
  scope: Scope,
  kind: ResourceKind,
  definitions: Definition[],
): Promise<void> {
  if (definitions.length === 0) return;
  if (kind === 'agents') return writeAgents(db, scope, definitions as Definition<'agents'>[]);
  const { text, prefix } = upserts[kind];
  const rows = definitions.map((definition) => ({ id: newId(prefix), ...toRow(kind, definition) }));
  await db.raw(text, [scope.organizationId, scope.environment, JSON.stringify(rows)]);
}

function toRow(kind: ResourceKind, definition: Definition): object {
  const row = { slug: slugOf(definition), name: definition.name, definition };
  if (kind === 'entityTypes') {
    const { schema, searchFields = [], displayConfig } = definition as Definition<'entityTypes'>;
    return { slug: row.slug, name: row.name, schema, search_fields: searchFields, display_config: displayConfig };
  }
  if (kind === 'triggers') {
    const { on, enabled = true } = definition as Definition<'triggers'>;
    return 'entityType' in on
      ? { ...row, enabled, entity_type: on.entityType, action: on.action }
      : { ...row, enabled };
  }
  return row;
}

/** The identity is the organization's, made when either environment first has the agent. */
async function writeAgents(db: Queryable, scope: Scope, agents: Definition<'agents'>[]): Promise<void> {
  const rows = agents.map(({ slug, ...definition }) => ({
    agent_id: newId('agent'),
    config_id: newId('config'),
    slug,
    name: definition.name,
    definition,
  }));
  const list = JSON.stringify(rows);
  await db.raw(
    `insert into agents (id, organization_id, slug)
     select agent_id, $1, slug from json_to_recordset($2::json) as r(agent_id text, slug text)
     on conflict (organization_id, slug) do nothing`,
    [scope.organizationId, list],
  );
  await db.raw(
    `insert into agent_configs (id, agent_id, environment, name, definition, updated_at)
     select r.config_id, a.id, $2::"Environment", r.name, r.definition, now()
     from json_to_recordset($3::json) as r(config_id text, slug text, name text, definition json)
     join agents a on a.organization_id = $1 and a.slug = r.slug
     on conflict (agent_id, environment) do update
     set name = excluded.name, definition = excluded.definition, revision = agent_configs.revision + 1,
         updated_at = now()`,
    [scope.organizationId, scope.environment, list],
  );
}

export async function deleteDefinitions(
  db: Queryable,
  scope: Scope,
  kind: ResourceKind,
  slugs: string[],
): Promise<void> {
  if (slugs.length === 0) return;
  if (kind === 'agents') return deleteAgents(db, scope, slugs);
  if (kind === 'entityTypes') await deleteShapes(db, scope, slugs);
  const key = kind === 'tools' ? 'name' : 'slug';
  await db.raw(
    `delete from ${tables[kind]}
     where organization_id = $1 and environment = $2::"Environment" and ${key} = any($3)`,
    [scope.organizationId, scope.environment, slugs],
  );
}

/** Takes the configuration of this environment away, and the agent itself when no environment has it any more. */
async function deleteAgents(db: Queryable, scope: Scope, slugs: string[]): Promise<void> {
  await db.raw(
    `delete from agent_configs c using agents a
     where a.id = c.agent_id and a.organization_id = $1 and c.environment = $2::"Environment" and a.slug = any($3)`,
    [scope.organizationId, scope.environment, slugs],
  );
  await db.raw(
    `delete from agents a where a.organization_id = $1 and a.slug = any($2)
       and not exists (select 1 from agent_configs c where c.agent_id = a.id)`,
    [scope.organizationId, slugs],
  );
}
