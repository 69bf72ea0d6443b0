import { type Scope, type SyncPull, resourceKinds } from '@parley/contracts';
import type { Db, Queryable } from '@parley/db';
import { readBatches, readOnlySnapshot, readSizes, readVersion } from './stored-resources';

/**
 * Every definition of an environment as it was pushed, as pieces of a JSON text (contracts:
 * SyncPull). Pushing the result back has no effect. A process holds about 256 KiB of the
 * definitions at a time, however many there are: `write` resolves when it can take more.
 */
export function writePull(
  db: Db,
  scope: Scope,
  write: (piece: string) => Promise<void>,
): Promise<void> {
  return db.transaction(
    async (client) => {
      await client.query(scope, readOnlySnapshot);
      for await (const piece of piecesOf(client, scope)) await write(piece);
    },
    { isLong: true },
  );
}

/** The same as a value, for callers of small environments. */
export async function pullResources(db: Db, scope: Scope): Promise<SyncPull> {
  const pieces: string[] = [];
  await writePull(db, scope, async (piece) => void pieces.push(piece));
  return JSON.parse(pieces.join('')) as SyncPull;
}

async function* piecesOf(client: Queryable, scope: Scope): AsyncGenerator<string> {
  const version = await readVersion(client, scope);
  const sizes = await readSizes(client, scope);
  yield `{"environment":${JSON.stringify(scope.environment)},"version":${version},"resources":{`;
  for (const [index, kind] of resourceKinds.entries()) {
    yield `${index === 0 ? '' : ','}"${kind}":[`;
    let separator = '';
    for await (const batch of readBatches(client, scope, kind, sizes)) {
      yield separator + batch.map(({ definition }) => JSON.stringify(definition)).join(',');
      separator = ',';
    }
    yield ']';
  }
  yield '}}';
}
