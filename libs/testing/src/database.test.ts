import { Client } from 'pg';
import { createTestDatabase, createTestRedis, freePort } from './index';

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

describe('createTestDatabase', () => {
  it('creates a migrated database for each caller, and drops it', async () => {
    const [one, two] = await Promise.all([createTestDatabase(), createTestDatabase()]);
    expect(await query(one.url, 'SELECT migration_name FROM _prisma_migrations')).not.toEqual([]);
    expect(await query(one.url, 'SELECT * FROM entities')).toEqual([]);

    await query(one.url, 'CREATE TABLE only_here (id int)');
    await expect(query(two.url, 'SELECT * FROM only_here')).rejects.toThrow('does not exist');

    await Promise.all([one.drop(), two.drop()]);
    await expect(query(one.url, 'SELECT 1')).rejects.toThrow('does not exist');
  });

  it('creates a database that folds case beyond ASCII, which search requires', async () => {
    const database = await createTestDatabase();
    const rows = await query(
      database.url,
      `SELECT lower('ÁRBOL') AS lower, to_tsvector('simple', 'Ñandú')::text AS words`,
    );
    expect(rows).toEqual([{ lower: 'árbol', words: `'ñandú':1` }]);
    await database.drop();
  });
});

describe('createTestRedis', () => {
  it('returns another logical database to each caller', async () => {
    const [one, two] = await Promise.all([createTestRedis(), createTestRedis()]);
    expect(one.url).not.toBe(two.url);
    await one.flush();
  });
});

describe('freePort', () => {
  it('finds a port to listen on', async () => {
    expect(await freePort()).toBeGreaterThan(1023);
  });

  it('gives a port to one caller', async () => {
    const ports: number[] = [];
    while (ports.length < 100) ports.push(await freePort());
    expect(new Set(ports).size).toBe(100);
  });
});
