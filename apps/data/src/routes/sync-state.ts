import { syncStateSchema } from '@parley/contracts';
import { resourceState } from '@parley/resources';
import { route } from '@parley/service';
import { z } from 'zod';
import type { DataDeps } from '../app';

/** `POST /v1/sync/state`: slugs, names, versions and content hashes of what the environment holds. */
export const syncStateRoute = ({ db }: DataDeps) =>
  route(
    {
      method: 'post',
      path: '/v1/sync/state',
      permission: 'sync',
      readOnly: true,
      body: z.looseObject({}).optional(),
      response: syncStateSchema,
    },
    (_input, { scope }) => resourceState(db, scope),
  );
