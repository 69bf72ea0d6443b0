import type { Actor } from '@parley/contracts';
import type { Db } from '@parley/db';
import type { Access, Entities } from '@parley/entities';
import { accessOf, actorOf } from '@parley/permissions';
import { type CallerContext, forbidden } from '@parley/service';
import { entityFailure } from './entity-failure';

type Action = 'create' | 'read' | 'update' | 'delete' | 'list';

/** What the event of a change records about its origin: the actor and the request. */
export const originOf = ({
  caller,
  requestId,
}: CallerContext): { actor: Actor; requestId: string } => ({
  actor: actorOf(caller),
  requestId,
});

export interface CallerAccess {
  /** The entities and fields of the type that the caller's roles allow. Undefined: all of them. */
  access: Access | undefined;
  /** Why the policies of the roles deny an action on the type; null if they allow it. */
  denial(action: Action): string | null;
}

export interface AccessDeps {
  db: Db;
  entities: Pick<Entities, 'types'>;
}

const everything: CallerAccess = { access: undefined, denial: () => null };

/**
 * Returns what a caller may do with entities of a type. Throws an HttpError with 403 if it may not
 * perform `action`.
 */
export async function requireAccess(
  { db, entities }: AccessDeps,
  { caller, scope }: CallerContext,
  action: Action,
  type: string,
): Promise<CallerAccess> {
  const actor = actorOf(caller);
  if (actor.type === 'system') return everything;
  const { can, access } = await accessOf(db, scope, actor, type);
  const denial = (action: Action): string | null => {
    const decision = can(action);
    return decision.allowed ? null : decision.message;
  };
  const denied = denial(action);
  if (denied === null) return { access, denial };
  // An unknown type is a 404 for every caller (docs/reference/errors.md#data-errors).
  const types = await entities.types(scope);
  if (!types.some(({ slug }) => slug === type))
    throw entityFailure({ ok: false, reason: 'type_not_found' }, type);
  throw forbidden(denied, 'permission_denied');
}
