import { actorOf, loadPermissions } from '@parley/permissions';
import type { Handler } from '@parley/service';
import type { AccessDeps } from '../require-access';

/**
 * `GET /v1/entity-types`: the types that the key may read, with schemas as flat maps of
 * field to type name.
 */
export const listEntityTypes =
  ({ db, entities }: AccessDeps): Handler<'listEntityTypes'> =>
  async (_input, { caller, scope }) => {
    const types = await entities.types(scope);
    const actor = actorOf(caller);
    if (actor.type === 'system') return { data: types };
    const { decide } = await loadPermissions(db, scope, actor);
    return {
      data: types.filter(
        ({ slug }) => decide('read', slug).allowed || decide('list', slug).allowed,
      ),
    };
  };
