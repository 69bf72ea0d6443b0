import type { Actor } from '@parley/contracts';
import type { Db } from '@parley/db';
import type { Access, Entities } from '@parley/entities';
import { accessOf, actorOf } from '@parley/permissions';
import { type CallerContext, forbidden } from '@parley/service';
import { entityFailure } from './entity-failure';

type Action = 'create' | 'read' | 'update' | 'delete' | 'list';

/** Stands in the event of a change: who made it and on which request. */
export const originOf = ({ caller, requestId }: CallerContext): { actor: Actor; requestId: string } => ({
  actor: actorOf(caller),
  requestId,
});

export interface CallerAccess {
  /** What the caller's roles let it see of a type; undefined when all. */
  access: Access | undefined;
  /** Why the roles' policies do not allow an action on the type; null when they do. */
  denial(action: Action): string | null;
}

export interface AccessDeps {
  db: Db;
  entities: Pick<Entities, 'types'>;
}

const everything: CallerAccess = { access: undefined, denial: () => null };

/** What a caller may do with entities of a type. Refuses when that is not the action that it asks for. */
export async function requireAccess(
  { db, entities }: AccessDeps,
  { caller, scope }: CallerContext,
  action: Action,
  type: string,
): Promise<CallerAccess> {
  const actor = actorOf(caller);
  if (actor.type === 'system') return everything;
  const { can, access } = await accessOf(db, scope, actor, type);
  const denial = (wanted: Action): string | null => {
    const decision = can(wanted);
    return decision.allowed ? null : decision.message;
  };
  const denied = denial(action);
  if (denied === null) return { access, denial };
  // A type that is not there is a 404 for every caller (interface.md, Data endpoints).
  const types = await entities.types(scope);
  if (!types.some(({ slug }) => slug === type)) throw entityFailure({ ok: false, reason: 'type_not_found' }, type);
  throw forbidden(denied, 'permission_denied');
}
