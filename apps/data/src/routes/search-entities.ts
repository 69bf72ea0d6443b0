import { entitySchema, searchEntitiesBodySchema } from '@parley/contracts';
import { RawJson, route } from '@parley/service';
import { z } from 'zod';
import type { DataDeps } from '../app';
import { requireAccess } from '../caller';
import { entityFailure } from '../entity-failure';
import { typeParams } from './params';

/** `POST /v1/data/:type/search`: full text over the type's `searchFields`, best matches first. */
export const searchEntitiesRoute = (deps: DataDeps) =>
  route(
    {
      method: 'post',
      path: '/v1/data/:type/search',
      permission: 'data',
      rateLimited: true,
      readOnly: true,
      params: typeParams,
      body: searchEntitiesBodySchema,
      response: z.strictObject({ data: z.array(entitySchema) }),
    },
    async ({ params: { type }, body }, context) => {
      const { access } = await requireAccess(deps, context, 'list', type);
      const searched = await deps.entities.search(context.scope, { type, ...body, access });
      if (!searched.ok) throw entityFailure(searched, type);
      return new RawJson(searched.list.json);
    },
  );
