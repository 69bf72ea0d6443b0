import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { isAlive } from './child-process';
import { startPostgres } from './start-postgres';
import { reachableDataDir } from './postgres-installation';

jest.setTimeout(60_000);

const folder = mkdtempSync(join(tmpdir(), 'parley-embedded-'));
const dataDir = join(folder, 'postgres');
afterAll(() => {
  for (const path of [reachableDataDir(dataDir), folder])
    rmSync(path, { recursive: true, force: true });
});

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

describe('startPostgres', () => {
  it('keeps data between runs, stops the server of a run that was killed, and requires a password', async () => {
    const first = await startPostgres({ dataDir });
    await query(first.url, 'CREATE TABLE kept AS SELECT 1 AS id');
    await expect(query(first.url.replace(/:[^:@]+@/, ':wrong@'), 'SELECT 1')).rejects.toThrow(
      'password',
    );

    const second = await startPostgres({ dataDir }); // the first was never stopped
    expect(isAlive(first.pid)).toBe(false);
    expect(await query(second.url, 'SELECT * FROM kept')).toEqual([{ id: 1 }]);

    process.kill(second.pid, 'SIGKILL');
    await new Promise<void>((resolve) => second.onExit(() => resolve()));
    const third = await startPostgres({ dataDir });
    expect(await query(third.url, 'SELECT * FROM kept')).toEqual([{ id: 1 }]);
    await third.stop();
    expect(isAlive(third.pid)).toBe(false);
  });

  it('starts with new data in a folder that was deleted and created again', async () => {
    const checkout = mkdtempSync(join(tmpdir(), 'parley-embedded-'));
    const dataFolders: string[] = [];
    const tables: unknown[][] = [];
    for (let round = 0; round < 2; round += 1) {
      const server = await startPostgres({ dataDir: join(checkout, 'postgres') });
      dataFolders.push(reachableDataDir(join(checkout, 'postgres')));
      tables.push(await query(server.url, "SELECT 1 FROM pg_tables WHERE tablename = 'kept'"));
      await query(server.url, 'CREATE TABLE kept AS SELECT 1 AS id');
      await server.stop();
      rmSync(checkout, { recursive: true });
    }
    expect(tables).toEqual([[], []]);
    for (const path of dataFolders) rmSync(path, { recursive: true, force: true });
  });

  it('uses another port when the requested one is in use', async () => {
    const one = await startPostgres({ ephemeral: true });
    const two = await startPostgres({ ephemeral: true, port: one.port });
    expect(two.port).not.toBe(one.port);
    await Promise.all([one.stop(), two.stop()]);
  });

  it('starts from a copy of a cluster that was kept', async () => {
    const kept = join(folder, 'kept');
    const maker = await startPostgres({ ephemeral: true, keepAs: kept });
    await query(maker.url, 'CREATE TABLE kept AS SELECT 2 AS id');
    await maker.stop();
    expect(existsSync(kept)).toBe(true);

    const copy = await startPostgres({ ephemeral: true, from: kept });
    expect(await query(copy.url, 'SELECT * FROM kept')).toEqual([{ id: 2 }]);
    await copy.stop();
  });
});
