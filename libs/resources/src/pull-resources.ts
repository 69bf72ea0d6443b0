import type { ResourceSet, Scope, SyncPull } from '@parley/contracts';
import type { Db } from '@parley/db';
import { forEachKind } from './definition';
import { readOnlySnapshot, readStoredResources, readVersion } from './stored-resources';

/** Returns every definition of an environment as it was pushed. Pushing the result back has no effect. */
export function pullResources(db: Db, scope: Scope): Promise<SyncPull> {
  return db.transaction(async (client) => {
    await client.query(scope, readOnlySnapshot);
    const version = await readVersion(client, scope);
    const stored = await readStoredResources(client, scope);
    const resources = forEachKind((kind) => [...stored[kind].values()].map(({ definition }) => definition));
    return { environment: scope.environment, version, resources: resources as Required<ResourceSet> };
  });
}
