import { createDb } from '@parley/db';
import { createEntities } from '@parley/entities';
import { loadEntities } from './load-entities';

async function main(): Promise<void> {
  const db = createDb({ databaseUrl: process.env.DATABASE_URL! });
  const entities = createEntities({ pool: db.pool });
  const t = performance.now();
  await loadEntities(db, entities, process.env.DATABASE_URL!, Number(process.env.BENCH_ENTITIES ?? 1_000_000));
  console.log('loaded', performance.now() - t);
  await db.close();
}
main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
