import { readFileSync } from 'node:fs';
import type { Db } from '@parley/db';

/**
 * Tells how long a statement has kept its backend on a core, in milliseconds: what it takes in the database whatever
 * else the machine does. For a pool of one connection to a PostgreSQL on this machine.
 */
export async function backendCpu(db: Db): Promise<(call: () => Promise<unknown>) => Promise<number>> {
  const { rows } = await db.pool.query<{ pid: number }>('select pg_backend_pid() as pid');
  const onCpuNs = (): number => Number(readFileSync(`/proc/${rows[0]!.pid}/schedstat`, 'utf8').split(' ')[0]);
  return async (call) => {
    const before = onCpuNs();
    await call();
    return (onCpuNs() - before) / 1e6;
  };
}
