import { entitySchema, updateEntityBodySchema } from '@parley/contracts';
import { RawJson, route } from '@parley/service';
import type { DataDeps } from '../app';
import { originOf, requireAccess } from '../caller';
import { entityFailure } from '../entity-failure';
import { entityParams } from './params';

/** `PATCH /v1/data/:type/:id`: merges `data` at its top level; a `status` restores a deleted entity. */
export const updateEntityRoute = (deps: DataDeps) =>
  route(
    {
      method: 'patch',
      path: '/v1/data/:type/:id',
      permission: 'data',
      rateLimited: true,
      params: entityParams,
      body: updateEntityBodySchema,
      response: entitySchema,
    },
    async ({ params: { type, id }, body }, context) => {
      const access = await requireAccess(deps, context, 'update', type);
      // Else a role that may not delete could do it under another name.
      if (body.status === 'deleted') await requireAccess(deps, context, 'delete', type);
      const updated = await deps.entities.update(context.scope, { type, id, ...body, access, ...originOf(context) });
      if (!updated.ok) throw entityFailure(updated, type);
      return new RawJson(updated.entity.json);
    },
  );
