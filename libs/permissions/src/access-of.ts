import type { Actor, Scope } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import { type Access, parseAccess } from '@parley/entities';
import { type Permissions, loadPermissions } from './permissions';
import type { Action, Decision } from './policy';
import { resolveScopeRules } from './resolve-scope-rules';

/**
 * The permissions of an actor for one entity type: the permitted actions, and the visible
 * entities and fields.
 */
export async function accessOf(db: Queryable, scope: Scope, actor: Actor, entityType: string) {
  const permissions = await loadPermissions(db, scope, actor);
  return {
    /** Whether an action on this type is permitted; if not, with the message of the denial. */
    can: (action: Action): Decision => permissions.decide(action, entityType),
    /**
     * The `access` of the functions in libs/entities; undefined when all entities and
     * fields are visible.
     */
    access: await accessWith(db, scope, actor, permissions, entityType),
  };
}

/** The `access` of `accessOf`, for permissions that were already read. */
export async function accessWith(
  db: Queryable,
  scope: Scope,
  actor: Actor,
  { roles }: Permissions,
  entityType: string,
): Promise<Access | undefined> {
  if (roles === null) return undefined;
  const rules = await resolveScopeRules(db, scope, actor, roles, entityType);
  const masks = roles
    .flatMap(({ fieldMasks = [] }) => fieldMasks)
    .filter((mask) => mask.entityType === entityType);
  const parsed = parseAccess(rules, masks);
  if (parsed.ok) return parsed.access;
  // Push refuses invalid rules. An invalid stored rule hides all entities.
  return { clauses: [[{ field: { kind: 'id' }, operator: '$in', operand: [] }]], masks: [] };
}
