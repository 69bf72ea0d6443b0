import { createHash, randomBytes } from 'node:crypto';
import type {
  AgentDefinition,
  Environment,
  EntityTypeDefinition,
  Permission,
  RoleDefinition,
  RouterDefinition,
  Scope,
  ToolDefinition,
} from '@parley/contracts';
import type { Pool } from 'pg';

/** A pool of pg, because this library does not depend on `@parley/db`. */
type Queryable = Pick<Pool, 'query'>;

const newId = (prefix: string): string => `${prefix}_${randomBytes(13).toString('hex')}`;

export interface SeededOrganization {
  scope: Scope;
  /** An API key with the given permissions, by default `*`. */
  key: string;
  /** Ids of the agents, by slug. */
  agentIds: Record<string, string>;
}

/** Inserts an organization with the definitions of one environment, for tests that do not push. */
export async function seedOrganization(
  db: Queryable,
  given: {
    slug?: string;
    environment?: Environment;
    permissions?: Permission[];
    timezone?: string;
    agents?: (Partial<AgentDefinition> & { slug: string })[];
    routers?: RouterDefinition[];
    entityTypes?: EntityTypeDefinition[];
    roles?: RoleDefinition[];
    tools?: ToolDefinition[];
  } = {},
): Promise<SeededOrganization> {
  const environment = given.environment ?? 'development';
  const organizationId = newId('org');
  const slug = given.slug ?? organizationId.replace('_', '-');
  const { rows } = await db.query<{ no: number }>(
    `insert into organizations (id, slug, name, timezone, updated_at) values ($1, $2, $3, $4, now()) returning no`,
    [organizationId, slug, `Organization ${slug}`, given.timezone ?? 'UTC'],
  );
  const scope: Scope = { organizationId, tenant: rows[0]!.no, environment };
  const agentIds: Record<string, string> = {};
  for (const agent of given.agents ?? []) agentIds[agent.slug] = await seedAgent(db, scope, agent);
  for (const router of given.routers ?? [])
    await insertNamed(db, 'routers', scope, router.slug, router.name, router);
  for (const role of given.roles ?? [])
    await insertNamed(db, 'roles', scope, role.slug, role.name, role);
  for (const tool of given.tools ?? []) {
    await db.query(
      `insert into tools (id, tenant, environment, name, definition, updated_at)
       values ($1, $2, $3::"Environment", $4, $5, now())`,
      [newId('tool'), scope.tenant, environment, tool.name, JSON.stringify(tool)],
    );
  }
  for (const type of given.entityTypes ?? []) {
    await db.query(
      `insert into entity_types (id, tenant, environment, slug, name, schema, search_fields, updated_at)
       values ($1, $2, $3::"Environment", $4, $5, $6, $7, now())`,
      [
        newId('type'),
        scope.tenant,
        environment,
        type.slug,
        type.name,
        JSON.stringify(type.schema),
        type.searchFields ?? [],
      ],
    );
  }
  const key = await seedKey(db, scope, given.permissions ?? ['*']);
  return { scope, key, agentIds };
}

async function seedKey(
  db: Queryable,
  { tenant, environment }: Scope,
  permissions: Permission[],
): Promise<string> {
  const prefix = environment === 'production' ? 'sk_prod_' : 'sk_dev_';
  const key = prefix + randomBytes(32).toString('base64url');
  await db.query(
    `insert into api_keys (id, tenant, environment, name, hash, prefix, permissions)
     values ($1, $2, $3::"Environment", 'test', $4, $5, $6)`,
    [
      newId('key'),
      tenant,
      environment,
      createHash('sha256').update(key).digest(),
      prefix,
      permissions,
    ],
  );
  return key;
}

async function seedAgent(
  db: Queryable,
  { tenant, environment }: Scope,
  { slug, ...rest }: Partial<AgentDefinition> & { slug: string },
): Promise<string> {
  const id = newId('agent');
  const definition = { name: slug, systemPrompt: `You are ${slug}.`, ...rest };
  await db.query('insert into agents (id, tenant, slug) values ($1, $2, $3)', [id, tenant, slug]);
  await db.query(
    `insert into agent_configs (id, tenant, agent_id, environment, name, definition, updated_at)
     values ($1, $2, $3, $4::"Environment", $5, $6, now())`,
    [newId('config'), tenant, id, environment, definition.name, JSON.stringify(definition)],
  );
  return id;
}

async function insertNamed(
  db: Queryable,
  table: 'routers' | 'roles',
  { tenant, environment }: Scope,
  slug: string,
  name: string,
  definition: unknown,
): Promise<void> {
  await db.query(
    `insert into ${table} (id, tenant, environment, slug, name, definition, updated_at)
     values ($1, $2, $3::"Environment", $4, $5, $6, now())`,
    [newId(table), tenant, environment, slug, name, JSON.stringify(definition)],
  );
}
