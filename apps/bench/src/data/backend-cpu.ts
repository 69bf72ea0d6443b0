import { readFileSync } from 'node:fs';
import type { Db } from '@parley/db';

/**
 * Returns the CPU time of PostgreSQL's backend for a call in milliseconds, which other load hardly
 * affects. Requires a pool of one connection to a PostgreSQL on this machine.
 */
export async function backendCpu(
  db: Db,
): Promise<(call: () => Promise<unknown>) => Promise<number>> {
  const { rows } = await db.pool.query<{ pid: number }>('select pg_backend_pid() as pid');
  const onCpuNs = (): number =>
    Number(readFileSync(`/proc/${rows[0]!.pid}/schedstat`, 'utf8').split(' ')[0]);
  return async (call) => {
    const before = onCpuNs();
    await call();
    return (onCpuNs() - before) / 1e6;
  };
}
