import { syncPullSchema } from '@parley/contracts';
import { pullResources } from '@parley/resources';
import { route } from '@parley/service';
import { z } from 'zod';
import type { DataDeps } from '../app';

/** `POST /v1/sync/pull`: every definition of the environment, as it was pushed. */
export const pullResourcesRoute = ({ db }: DataDeps) =>
  route(
    {
      method: 'post',
      path: '/v1/sync/pull',
      permission: 'sync',
      readOnly: true,
      body: z.looseObject({}).optional(),
      response: syncPullSchema,
    },
    (_input, { scope }) => pullResources(db, scope),
  );
