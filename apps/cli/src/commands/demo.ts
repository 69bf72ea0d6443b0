import { readDatabaseUrl } from '@parley/db';
import { withDatabase } from '../database';
import { seedDemo } from '../demo/seed';
import { databaseUrl } from '../environment';
import { Failure } from '../failure';
import { demoSlug } from '../organizations';
import { print } from '../terminal';

/** `parley demo [--new-key]`: one JSON line; the key is in it only when it was made just now. */
export async function runDemo({ newKey }: { newKey?: boolean }): Promise<void> {
  if (readDatabaseUrl(databaseUrl()).isPooled)
    throw new Failure('The demo goes past PgBouncer, as its lock belongs to a session: give the address of PostgreSQL');
  const { key } = await withDatabase((db) => seedDemo(db, { newKey }));
  print(JSON.stringify({ organization: demoSlug, key }));
}
