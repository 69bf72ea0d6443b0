import { operations } from '@parley/contracts';
import { pullResources } from '@parley/resources';
import { route } from '@parley/service';
import type { DataDeps } from '../app';

/** `POST /v1/sync/pull`: every definition of the environment, as it was pushed. */
export const pullResourcesRoute = ({ db }: DataDeps) =>
  route(operations.syncPull, (_input, { scope }) => pullResources(db, scope));
