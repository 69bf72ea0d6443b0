import type { Actor, Scope } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import { type Access, parseAccess } from '@parley/entities';
import { type Permissions, loadPermissions } from './permissions';
import type { Action, Decision } from './policy';
import { resolveScopeRules } from './resolve-scope-rules';

export interface EntityAccess {
  /** Whether an action on this type is permitted, with the text of the denial. */
  can(action: Action): Decision;
  /** What the functions of libs/entities take as `access`; undefined when nothing is narrowed. */
  access: Access | undefined;
}

/** What an actor may do with entities of one type: the actions, and which entities and fields it sees. */
export async function accessOf(db: Queryable, scope: Scope, actor: Actor, entityType: string): Promise<EntityAccess> {
  const permissions = await loadPermissions(db, scope, actor);
  return {
    can: (action) => permissions.decide(action, entityType),
    access: await accessWith(db, scope, actor, permissions, entityType),
  };
}

/** As `accessOf`, when the permissions have been read already. */
export async function accessWith(
  db: Queryable,
  scope: Scope,
  actor: Actor,
  { roles }: Permissions,
  entityType: string,
): Promise<Access | undefined> {
  if (roles === null) return undefined;
  const rules = await resolveScopeRules(db, scope, actor, roles, entityType);
  const masks = roles.flatMap(({ fieldMasks = [] }) => fieldMasks).filter((mask) => mask.entityType === entityType);
  const parsed = parseAccess(rules, masks);
  if (parsed.ok) return parsed.access;
  // Push refuses such rules. Where one is stored all the same, it hides everything.
  return { clauses: [[{ field: { kind: 'id' }, operator: '$in', operand: [] }]], masks: [] };
}
