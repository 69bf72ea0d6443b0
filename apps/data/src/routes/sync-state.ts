import { operations } from '@parley/contracts';
import { resourceState } from '@parley/resources';
import { route } from '@parley/service';
import type { DataDeps } from '../app';

/** `POST /v1/sync/state`: slugs, names, versions and content hashes of what the environment holds. */
export const syncStateRoute = ({ db }: DataDeps) =>
  route(operations.syncState, (_input, { scope }) => resourceState(db, scope));
