import type { Actor, ApiKeyIdentity } from '@parley/contracts';
import type { Db } from '@parley/db';
import type { Access, Entities } from '@parley/entities';
import { accessOf } from '@parley/permissions';
import { type KeyedContext, forbidden } from '@parley/service';
import { entityFailure } from './entity-failure';

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

export interface KeyAccess {
  /** What the key's role lets it see of a type; undefined when all. */
  access: Access | undefined;
  /** Why the role's policies do not allow an action on the type; null when they do. */
  denial(action: Action): string | null;
}

export interface AccessDeps {
  db: Db;
  entities: Pick<Entities, 'types'>;
}

const everything: KeyAccess = { access: undefined, denial: () => null };

/** What a key may do with entities of a type. Refuses when that is not the action that it asks for. */
export async function requireAccess(
  { db, entities }: AccessDeps,
  { key, scope }: KeyedContext,
  action: Action,
  type: string,
): Promise<KeyAccess> {
  if (key.role === null) return everything;
  const { can, access } = await accessOf(db, scope, actorOf(key), type);
  const denial = (wanted: Action): string | null => {
    const decision = can(wanted);
    return decision.allowed ? null : decision.message;
  };
  const denied = denial(action);
  if (denied === null) return { access, denial };
  // A type that is not there is a 404 for every key (interface.md, Data endpoints).
  const types = await entities.types(scope);
  if (!types.some(({ slug }) => slug === type)) throw entityFailure({ ok: false, reason: 'type_not_found' }, type);
  throw forbidden(denied, 'permission_denied');
}
