import { rmSync, symlinkSync } from 'node:fs';
import { Client } from 'pg';

/**
 * Simulates a full disk for an empty table that no connection has opened yet: its file becomes
 * /dev/full, on which the kernel answers every write with ENOSPC. Only on Linux, and for a server
 * whose data folder this process can write.
 */
export async function fillDisk(databaseUrl: string, table: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ path: string }>(
      `select current_setting('data_directory') || '/' || pg_relation_filepath($1) as path`,
      [table],
    );
    rmSync(rows[0]!.path);
    symlinkSync('/dev/full', rows[0]!.path);
  } finally {
    await client.end();
  }
}
