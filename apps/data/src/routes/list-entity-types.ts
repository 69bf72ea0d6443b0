import { loadPermissions } from '@parley/permissions';
import type { Handler } from '@parley/service';
import { type AccessDeps, actorOf } from '../caller';

/** `GET /v1/entity-types`: the types that the key may read, each schema as the flat map of field to type name. */
export const listEntityTypes =
  ({ db, entities }: AccessDeps): Handler<'listEntityTypes'> =>
  async (_input, { key, scope }) => {
    const types = await entities.types(scope);
    if (key.role === null) return { data: types };
    const { decide } = await loadPermissions(db, scope, actorOf(key));
    return { data: types.filter(({ slug }) => decide('read', slug).allowed || decide('list', slug).allowed) };
  };
