import { readDatabaseUrl } from '@parley/db';
import { withDatabase } from '../database';
import { seedDemo } from '../demo/seed';
import { databaseUrl } from '../environment';
import { Failure } from '../failure';
import { demoSlug } from '../organizations';
import { print } from '../terminal';

/**
 * `parley demo [--new-key]`: prints one line of JSON. `key` is null unless this run created a key.
 */
export async function runDemo({ newKey }: { newKey?: boolean }): Promise<void> {
  if (readDatabaseUrl(databaseUrl()).isPooled)
    throw new Failure(
      'parley demo cannot use PgBouncer, because it holds a session lock. Set DATABASE_URL to the address of PostgreSQL',
    );
  const { key } = await withDatabase((db) => seedDemo(db, { newKey }));
  print(JSON.stringify({ organization: demoSlug, key }));
}
