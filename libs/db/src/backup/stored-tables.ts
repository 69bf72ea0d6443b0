import type { ClientBase } from 'pg';

/** A table and its columns, as a backup names them. */
export interface StoredTable {
  name: string;
  columns: string[];
}

// Transaction ids (xid8) belong to one server: a restored row gets the id of the transaction that
// restores it (docs/adr/0034). Partitions are read and written through their table. Tables of
// extensions are not ours.
const tablesSql = `select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns,
    sum(greatest(c.reltuples, 0)) / count(*) + coalesce((select sum(greatest(p.reltuples, 0)) from pg_inherits i
      join pg_class p on p.oid = i.inhrelid where i.inhparent = c.oid), 0) as estimate
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    and a.attgenerated = '' and a.atttypid <> 'xid8'::regtype
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    and c.relname <> '_prisma_migrations'
    and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
  group by c.oid, c.relname order by c.relname`;

const referencesSql = `select distinct f.relname as table, t.relname as referenced
  from pg_constraint k join pg_class f on f.oid = k.conrelid join pg_class t on t.oid = k.confrelid
  where k.contype = 'f' and k.conparentid = 0 and f.relnamespace = 'public'::regnamespace`;

/**
 * Returns all tables, each after the tables that its foreign keys reference, and an estimate of
 * the number of rows.
 */
export async function listTables(
  client: ClientBase,
): Promise<{ tables: StoredTable[]; estimatedRows: number }> {
  const { rows } = await client.query<StoredTable & { estimate: number }>(tablesSql);
  const { rows: references } = await client.query<{ table: string; referenced: string }>(
    referencesSql,
  );
  const ordered = new Map<string, StoredTable>();
  const add = ({ name, columns }: StoredTable): void => {
    if (ordered.has(name)) return;
    const before = references.filter(
      ({ table, referenced }) => table === name && referenced !== name,
    );
    for (const { referenced } of before) add(rows.find((row) => row.name === referenced)!);
    ordered.set(name, { name, columns });
  };
  for (const row of rows) add(row);
  return {
    tables: [...ordered.values()],
    estimatedRows: Math.round(rows.reduce((sum, { estimate }) => sum + Number(estimate), 0)),
  };
}

/**
 * Returns the last number that each sequence gave, or the one before its first. Sequences belong to
 * no snapshot: read after the rows, none is too small.
 */
export async function readSequences(client: ClientBase): Promise<Record<string, string>> {
  const { rows } = await client.query<{ name: string; value: string }>(
    `select sequencename as name, coalesce(last_value, start_value - increment_by)::text as value from pg_sequences
     where schemaname = 'public' order by 1`,
  );
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
}
