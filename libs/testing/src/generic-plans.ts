import type pg from 'pg';

type Run = (...args: never[]) => Promise<unknown>;
interface Runner {
  query: Run;
  acrossTenants: Run;
}
interface Database<Tx extends Runner> extends Runner {
  pool: Pick<pg.Pool, 'query'>;
  transaction: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;
}

/**
 * Runs `work` with a database that notes its statements. Returns the name and the generic plan,
 * which production uses, of each text.
 */
async function notedPlans<Tx extends Runner, Db extends Database<Tx>>(
  db: Db,
  work: (noting: Db) => Promise<unknown>,
): Promise<{ name: string; plan: string }[]> {
  /** The names by text: statements whose texts vary have one name. */
  const names = new Map<string, string>();
  const noting = <R extends Runner>(runner: R): R => {
    const note =
      (run: Run) =>
      (...args: unknown[]) => {
        const { name, text } = args[1] as { name: string; text: string };
        names.set(text, name);
        return run(...(args as never[]));
      };
    return { ...runner, query: note(runner.query), acrossTenants: note(runner.acrossTenants) };
  };
  const transaction: Db['transaction'] = (run) => db.transaction((tx) => run(noting(tx)));
  await work({ ...noting(db), transaction });
  const plans = [];
  for (const [text, name] of names) {
    const { rows } = await db.pool.query<{ 'QUERY PLAN': string }>(
      `explain (generic_plan, costs off) ${text}`,
    );
    plans.push({ name, plan: rows.map((row) => row['QUERY PLAN']).join('\n') });
  }
  return plans;
}

/** The generic plans of the statements that `work` runs, one for each text. */
export const genericPlans = async <Tx extends Runner, Db extends Database<Tx>>(
  db: Db,
  work: (noting: Db) => Promise<unknown>,
): Promise<string[]> => (await notedPlans<Tx, Db>(db, work)).map(({ plan }) => plan);

const scan = /(?:Index (?:Only )?Scan (?:Backward )?using|Bitmap Index Scan on|Seq Scan on) (\w+)/;
const compared = /(COALESCE\([^)]*\)|\w+)\)? (?:[<>=]+|IS NOT NULL)/g;

/**
 * How the generic plan of each statement that `work` runs reads `table`: the indexes, with the
 * columns that it searches them by. An index without columns is read from its beginning.
 */
export async function scansOf<Tx extends Runner, Db extends Database<Tx>>(
  db: Db,
  table: string,
  work: (noting: Db) => Promise<unknown>,
): Promise<Record<string, string[]>> {
  const scans: Record<string, string[]> = {};
  for (const { name, plan } of await notedPlans<Tx, Db>(db, work)) {
    const lines = plan.split('\n');
    const found = lines.flatMap((line, at) => {
      const [, index] = scan.exec(line) ?? [];
      if (index === undefined || !line.includes(table)) return [];
      const condition = /Index Cond: (.*)/.exec(lines[at + 1] ?? '')?.[1] ?? '';
      return [
        `${index} (${Array.from(condition.matchAll(compared), ([, column]) => column).join(', ')})`,
      ];
    });
    scans[name] = [...new Set([...(scans[name] ?? []), ...found])].sort();
  }
  return scans;
}
