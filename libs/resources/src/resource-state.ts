import { type ResourceKind, type Scope, type SyncState, resourceKinds } from '@parley/contracts';
import type { Db } from '@parley/db';
import { contentHash } from './content-hash';
import { forEachKind } from './definition';
import { createPushBudget } from './push-budget';
import { readBatches, readOnlySnapshot, readSizes, readVersion } from './stored-resources';

type DefinitionState = SyncState['resources'][ResourceKind][number];

/**
 * Returns the slug, name, version and content hash of every definition of an environment, by kind.
 */
export function resourceState(db: Db, scope: Scope): Promise<Omit<SyncState, 'organization'>> {
  return db.transaction(async (client) => {
    await client.query(scope, readOnlySnapshot);
    const version = await readVersion(client, scope);
    const sizes = await readSizes(client, scope);
    const budget = createPushBudget(Infinity);
    const resources = forEachKind((): DefinitionState[] => []);
    for (const kind of resourceKinds)
      for await (const batch of readBatches(client, scope, kind, sizes))
        for (const { id, slug, name, revision, definition } of batch) {
          resources[kind].push({
            ...(id !== undefined && { id }),
            slug,
            name,
            version: revision,
            hash: contentHash(definition),
          });
          // The definitions of an environment can be many megabytes.
          await budget.pause();
        }
    return { environment: scope.environment, version, resources };
  });
}
