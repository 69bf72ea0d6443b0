import type { Scope, SyncState } from '@parley/contracts';
import type { Db } from '@parley/db';
import { contentHash } from './content-hash';
import { forEachKind } from './definition';
import { readOnlySnapshot, readStoredResources, readVersion } from './stored-resources';

/** Returns the slug, name, version and content hash of every definition of an environment, by kind. */
export function resourceState(db: Db, scope: Scope): Promise<SyncState> {
  return db.transaction(async (client) => {
    await client.query(scope, readOnlySnapshot);
    const version = await readVersion(client, scope);
    const stored = await readStoredResources(client, scope);
    const resources = forEachKind((kind) =>
      [...stored[kind].values()].map(({ slug, name, revision, definition }) => ({
        slug,
        name,
        version: revision,
        hash: contentHash(definition),
      })),
    );
    return { environment: scope.environment, version, resources };
  });
}
