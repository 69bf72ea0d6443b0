import type { Actor, Policy, RoleDefinition, Scope } from '@parley/contracts';
import { type Queryable, column, statement } from '@parley/db';
import { type Action, type Decision, decide } from './policy';

/** The permissions of an actor, read once for each call or request. */
export interface Permissions {
  /** Null for an actor that roles do not restrict: the system, a webhook, or an agent without roles. */
  roles: readonly RoleDefinition[] | null;
  decide(action: Action, resource: string): Decision;
}

const unrestricted: Permissions = { roles: null, decide: () => ({ allowed: true }) };

/**
 * Reads the permissions of an actor. The system and webhooks may do everything. An agent without roles is restricted only by
 * its `tools` list; with roles it needs a permission of them too (ADR 12). A user without roles may do nothing. A role that
 * does not exist grants nothing.
 */
export async function loadPermissions(db: Queryable, scope: Scope, actor: Actor): Promise<Permissions> {
  if (actor.type === 'system' || actor.type === 'webhook') return unrestricted;
  if (actor.type === 'agent' && actor.roles.length === 0) return unrestricted;
  const roles = actor.roles.length === 0 ? [] : await readRoles(db, scope, actor.roles);
  const policies: Policy[] = roles.flatMap((role) => role.policies);
  return { roles, decide: (action, resource) => decide(policies, action, resource) };
}

const rolesBySlug = statement(
  'roles-by-slug',
  `select slug, definition from roles
   where tenant = $1 and environment = $2::"Environment" and slug = any($3)`,
  { slug: column.text, definition: column.jsonb<RoleDefinition>() },
);

async function readRoles(db: Queryable, scope: Scope, slugs: readonly string[]): Promise<RoleDefinition[]> {
  const { rows } = await db.query(scope, rolesBySlug, [scope.tenant, scope.environment, slugs]);
  return rows.map(({ slug, definition }) => ({ ...definition, slug }));
}

const allRoles = statement(
  'list-roles',
  'select slug, name from roles where tenant = $1 and environment = $2::"Environment" order by slug',
  { slug: column.text, name: column.text },
);

/** The roles of an environment, ordered by slug. */
export async function listRoles(db: Queryable, scope: Scope): Promise<{ slug: string; name: string }[]> {
  return (await db.query(scope, allRoles, [scope.tenant, scope.environment])).rows;
}
