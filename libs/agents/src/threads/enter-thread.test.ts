import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDb } from '@parley/db';
import { createTestDatabase } from '@parley/testing';

test('enter-thread.sql is the function that the migrations create', async () => {
  const database = await createTestDatabase();
  const db = createDb({ databaseUrl: database.url });
  const client = await db.pool.connect();
  const definition = async () =>
    (
      await client.query(
        "select pg_get_functiondef(oid) as text from pg_proc where proname = 'enter_thread'",
      )
    ).rows;
  try {
    const migrated = await definition();
    await client.query(readFileSync(join(__dirname, 'enter-thread.sql'), 'utf8'));
    expect(migrated).toEqual(await definition());
  } finally {
    client.release();
    await db.close();
    await database.drop();
  }
});
