import type pg from 'pg';

type Run = (...args: never[]) => Promise<unknown>;

/** Runs `work` with a database that notes its statements. Returns their generic plans, which production uses, as text. */
export async function genericPlans<Db extends { pool: Pick<pg.Pool, 'query'>; query: Run; acrossTenants: Run }>(
  db: Db,
  work: (noting: Db) => Promise<unknown>,
): Promise<string[]> {
  const texts = new Set<string>();
  const noting =
    (run: Run) =>
    (...args: unknown[]) => {
      texts.add((args[1] as { text: string }).text);
      return run(...(args as never[]));
    };
  await work({ ...db, query: noting(db.query), acrossTenants: noting(db.acrossTenants) });
  const plans: string[] = [];
  for (const text of texts) {
    const { rows } = await db.pool.query<{ 'QUERY PLAN': string }>(`explain (generic_plan, costs off) ${text}`);
    plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
  }
  return plans;
}

const keyed = /Index Cond: (?!\(tenant = \$\d+\)$)/;

/**
 * The scans of `table` in these plans that read all of its rows, all of an index, or all rows of the tenant. Plans of the
 * statements for the tenants with due work are left out: they read one entry of each tenant.
 */
export const broadScans = (plans: readonly string[], table: string): string[] =>
  plans.flatMap((plan) => {
    const lines = plan.includes('Recursive Union') ? [] : plan.split('\n');
    return lines.filter(
      (line, at) => /(?:Seq|Index|Only) Scan /.test(line) && line.includes(table) && !keyed.test(lines[at + 1] ?? ''),
    );
  });
