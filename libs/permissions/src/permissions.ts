import type { Actor, RoleDefinition, Scope } from '@parley/contracts';
import { type Queryable, column, statement } from '@parley/db';
import { roleListsOf } from './actor-of';
import { type Explanation, explainDenial, explainList } from './explain-denial';
import { type Action, type Decision, decide } from './policy';

/** The permissions of an actor, read once for each call or request. */
export interface Permissions {
  /** The roles of all lists that restrict the actor; null when none does. */
  roles: readonly RoleDefinition[] | null;
  decide(action: Action, resource: string): Decision;
  /** Which policies lead to the decision, for operators. */
  explain(action: Action, resource: string): Explanation;
}

const noPolicy = (allowed: boolean, reason: string): Explanation => ({
  allowed,
  reason,
  policies: [],
});

const unrestricted = ({ type }: Actor): Permissions => ({
  roles: null,
  decide: () => ({ allowed: true }),
  explain: () =>
    noPolicy(
      true,
      type === 'agent'
        ? 'the agent has no roles and acts for the system'
        : `no role restricts the ${type}`,
    ),
});

/** No role restricts the agent, but to reach other people than its contact requires a policy. */
const agentWithoutRoles: Permissions = {
  roles: null,
  decide: (action, resource) =>
    action === 'reach' ? decide([], action, resource) : { allowed: true },
  explain: (action) =>
    action === 'reach'
      ? noPolicy(
          false,
          'the agent has no roles, and only a policy allows it to reach others than its contact',
        )
      : noPolicy(true, 'the agent has no roles'),
};

/**
 * Reads the permissions of an actor. The system, webhooks and signed-in people may do everything.
 * An agent without roles is restricted only by its `tools` list; with roles it needs a permission
 * of them too (ADR 12). An agent that acts for a caller with roles needs the permission of each
 * (ADR 41). A user without roles may do nothing. A role that does not exist grants nothing.
 */
export async function loadPermissions(
  db: Queryable,
  scope: Scope,
  actor: Actor,
): Promise<Permissions> {
  const lists = roleListsOf(actor);
  if (lists.length === 0)
    return actor.type === 'agent' && !actor.bySystem ? agentWithoutRoles : unrestricted(actor);
  const slugs = [...new Set(lists.flat())];
  const roles = slugs.length === 0 ? [] : await readRoles(db, scope, slugs);
  const held = lists.map((slugs) => ({
    slugs,
    roles: roles.filter(({ slug }) => slugs.includes(slug)),
  }));
  return {
    roles,
    decide(action, resource) {
      for (const list of held) {
        const decision = decide(
          list.roles.flatMap((role) => role.policies),
          action,
          resource,
        );
        if (!decision.allowed)
          return { ...decision, reason: explainDenial(actor, list, action, resource) };
      }
      return { allowed: true };
    },
    explain(action, resource) {
      const lists = held.map((list) => explainList(list, action, resource));
      const denied = lists.find(({ allowed }) => !allowed);
      if (denied !== undefined) return denied;
      const reasons = new Set(lists.map(({ reason }) => reason));
      return {
        allowed: true,
        reason: [...reasons].join('; '),
        policies: lists.flatMap(({ policies }) => policies),
      };
    },
  };
}

const rolesBySlug = statement(
  'roles-by-slug',
  `select slug, definition from roles
   where tenant = $tenant and environment = $environment::"Environment" and slug = any($slugs)`,
  { slug: column.text, definition: column.jsonb<RoleDefinition>() },
);

async function readRoles(
  db: Queryable,
  scope: Scope,
  slugs: readonly string[],
): Promise<RoleDefinition[]> {
  const { rows } = await db.query(scope, rolesBySlug, { environment: scope.environment, slugs });
  return rows.map(({ slug, definition }) => ({ ...definition, slug }));
}

const allRoles = statement(
  'list-roles',
  'select slug, name from roles where tenant = $tenant and environment = $environment::"Environment" order by slug',
  { slug: column.text, name: column.text },
);

/** The roles of an environment, ordered by slug. */
export async function listRoles(
  db: Queryable,
  scope: Scope,
): Promise<{ slug: string; name: string }[]> {
  return (await db.query(scope, allRoles, { environment: scope.environment })).rows;
}
