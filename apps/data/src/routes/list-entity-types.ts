import { operations } from '@parley/contracts';
import { route } from '@parley/service';
import { loadPermissions } from '@parley/permissions';
import type { DataDeps } from '../app';
import { actorOf } from '../caller';

/** `GET /v1/entity-types`: the types that the key may read, each schema as the flat map of field to type name. */
export const listEntityTypesRoute = ({ db, entities }: DataDeps) =>
  route(operations.listEntityTypes, async (_input, { key, scope }) => {
    const types = await entities.types(scope);
    if (key.role === null) return { data: types };
    const { decide } = await loadPermissions(db.pool, scope, actorOf(key));
    return { data: types.filter(({ slug }) => decide('read', slug).allowed || decide('list', slug).allowed) };
  });
