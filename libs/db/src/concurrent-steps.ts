import type pg from 'pg';

const creating = /^create (unique )?index concurrently "?(\w+)"? on "?(\w+)"?(.*)$/is;
const dropping = /^drop index concurrently if exists "?(\w+)"?$/i;

/**
 * The statements that run for one statement of a migration that builds indexes concurrently.
 * PostgreSQL does that for no partitioned table, such as `events` can be (docs/scaling.md): the
 * index is built on each partition, and that of the table then consists of them. A partition that
 * has its index from an earlier attempt keeps it.
 */
export async function concurrentSteps(client: pg.Client, sql: string): Promise<string[]> {
  const text = sql.replace(/^\s*--.*$/gm, '').trim();
  const [, dropped] = dropping.exec(text) ?? [];
  if (dropped !== undefined)
    return (await kindOf(client, dropped)) === 'I' ? briefly(`drop index "${dropped}"`) : [sql];
  const [, unique = '', index, table, rest] = creating.exec(text) ?? [];
  if (index === undefined || table === undefined || (await kindOf(client, table)) !== 'p')
    return [sql];
  const { rows } = await client.query<{ partition: string }>(
    `select relname as partition from pg_partition_tree($1::regclass) join pg_class c on c.oid = relid where isleaf order by relid`,
    [table],
  );
  const steps: string[] = [];
  for (const { partition } of rows) {
    const name = `${index.slice(0, 31)}_${partition.slice(-31)}`;
    const found = await client.query(
      'select from pg_index where indexrelid = to_regclass($1) and indisvalid',
      [name],
    );
    if (found.rowCount === 1) continue;
    steps.push(`drop index concurrently if exists "${name}"`);
    steps.push(`create ${unique}index concurrently "${name}" on "${partition}"${rest}`);
  }
  return [...steps, ...briefly(`create ${unique}index "${index}" on "${table}"${rest}`)];
}

/**
 * A statement that locks the table and changes nothing but its catalog. It makes way, as in
 * other migrations.
 */
const briefly = (text: string): string[] => [
  `set lock_timeout = '2s'`,
  text,
  'set lock_timeout = 0',
];

async function kindOf(client: pg.Client, name: string): Promise<string | undefined> {
  const { rows } = await client.query<{ kind: string }>(
    'select relkind::text as kind from pg_class where oid = to_regclass($1)',
    [name],
  );
  return rows[0]?.kind;
}
