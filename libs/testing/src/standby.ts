import { execFile } from 'node:child_process';
import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  type RunningServer,
  makeTemporaryFolder,
  reachableDataDir,
  startPostgres,
} from '@parley/embedded';
import pg from 'pg';
import { until } from './until';

const run = promisify(execFile);

export interface PostgresPair {
  primary: RunningServer;
  standby: RunningServer;
  /** Starts the standby again, on the same port. */
  restartStandby(): Promise<void>;
  /** Makes the standby the primary, as `pg_ctl promote` does. */
  promote(): Promise<void>;
  stop(): Promise<void>;
}

export interface PairOptions {
  /** A commit waits until the standby has stored it. */
  isSynchronous?: boolean;
  /** Prepares the primary before the standby is copied from it. */
  prepare?: (url: string) => Promise<void>;
}

/** Starts PostgreSQL and a standby that follows it by streaming replication. */
export async function startPostgresPair({
  isSynchronous = false,
  prepare,
}: PairOptions = {}): Promise<PostgresPair> {
  const folder = makeTemporaryFolder('pair');
  const folders = { primary: join(folder, 'primary'), standby: join(folder, 'standby') };
  const primary = await startPostgres({ dataDir: folders.primary });
  const remove = () => {
    for (const path of [...Object.values(folders).map(reachableDataDir), folder])
      rmSync(path, { recursive: true, force: true });
  };
  try {
    await prepare?.(primary.url);
    await copyCluster(primary.url, folders);
    let standby = await startPostgres({ dataDir: folders.standby });
    const isStreaming = () =>
      query(primary.url, `select from pg_stat_replication where state = 'streaming'`);
    await until(async () => (await isStreaming()).length === 1);
    if (isSynchronous)
      await query(primary.url, `alter system set synchronous_standby_names = 'standby'`);
    await query(primary.url, 'select pg_reload_conf()');
    if (isSynchronous)
      await until(
        async () =>
          (
            await query(primary.url, `select from pg_stat_replication where sync_state = 'sync'`)
          )[0],
      );
    return {
      primary,
      get standby() {
        return standby;
      },
      async restartStandby() {
        standby = await startPostgres({ dataDir: folders.standby, port: standby.port });
      },
      promote: async () => void (await query(standby.url, 'select pg_promote()')),
      async stop() {
        await Promise.all([standby.stop(), primary.stop()]);
        remove();
      },
    };
  } catch (error) {
    await primary.stop();
    remove();
    throw error;
  }
}

/**
 * A base backup, as `pg_basebackup` makes one, which the packages of the embedded
 * PostgreSQL do not contain.
 */
async function copyCluster(
  url: string,
  folders: { primary: string; standby: string },
): Promise<void> {
  const [from, to] = [reachableDataDir(folders.primary), reachableDataDir(folders.standby)];
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`select pg_backup_start('standby', true)`);
    await run('cp', ['-a', `${from}/.`, to]);
    const { rows } = await client.query<{ labelfile: string }>(
      'select labelfile from pg_backup_stop(false)',
    );
    writeFileSync(join(to, 'backup_label'), rows[0]!.labelfile);
    writeFileSync(join(to, 'standby.signal'), '');
    appendFileSync(
      join(to, 'postgresql.conf'),
      `primary_conninfo = '${url}?application_name=standby'\n`,
    );
    rmSync(join(to, 'postmaster.pid'), { force: true });
    await run('chown', ['-R', '--reference', from, to]);
  } finally {
    await client.end();
  }
}

async function query(url: string, text: string): Promise<object[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}
