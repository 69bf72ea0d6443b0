import type { Actor, ApiKeyIdentity } from '@parley/contracts';
import type { Access } from '@parley/entities';
import { type KeyedContext, forbidden } from '@parley/service';
import { accessOf } from '@parley/tools';
import type { DataDeps } from './app';

type Action = 'create' | 'read' | 'update' | 'delete' | 'list';

const system: Actor = { type: 'system' };

/** On whose behalf a key acts: without a role it is the system (decisions.md, Keys and permissions). */
export const actorOf = ({ id, role }: ApiKeyIdentity): Actor =>
  role === null ? system : { type: 'user', apiKeyId: id, roles: [role] };

/** Stands in the event of a change: who made it and on which request. */
export const originOf = ({ key, requestId }: KeyedContext): { actor: Actor; requestId: string } => ({
  actor: actorOf(key),
  requestId,
});

/** What the key's role lets it see of a type; undefined when all. Refuses what the role's policies do not allow. */
export async function requireAccess(
  { db }: DataDeps,
  { key, scope }: KeyedContext,
  action: Action,
  type: string,
): Promise<Access | undefined> {
  if (key.role === null) return undefined;
  const { can, access } = await accessOf(db.pool, scope, actorOf(key), type);
  const decision = can(action);
  if (!decision.allowed) throw forbidden(decision.message, 'permission_denied');
  return access;
}
