import type { ClientBase } from 'pg';
import { tenantTablesSql } from './table-distribution';

/** Number of partitions of each tenant table. */
export const partitionCount = 8;

/**
 * Splits each tenant table of an empty database into hash partitions by `tenant`, named
 * `<table>_part0` and so on. PostgreSQL refuses this when a primary or unique key of the table does
 * not contain the column.
 */
export async function partitionTables(client: ClientBase): Promise<void> {
  const { rows: tables } = await client.query<{ name: string }>(tenantTablesSql);
  const { rows: keys } = await client.query<{ from: string; name: string; definition: string }>(
    `select conrelid::regclass::text as from, conname as name, pg_get_constraintdef(oid) as definition
     from pg_constraint where contype = 'f'`,
  );
  for (const { from, name } of keys)
    await client.query(`alter table ${from} drop constraint ${name}`);
  await client.query('create schema partitioned');
  for (const { name } of tables) {
    await client.query(
      `create table partitioned.${name} (like public.${name} including all) partition by hash (tenant)`,
    );
    // The sequence of a column would be dropped with its table below.
    const { rows: sequences } = await client.query<{ name: string }>(
      `select objid::regclass::text as name from pg_depend
       where classid = 'pg_class'::regclass and refobjid = $1::regclass and deptype = 'a' and refobjsubid > 0
         and objid in (select oid from pg_class where relkind = 'S')`,
      [`public.${name}`],
    );
    for (const sequence of sequences)
      await client.query(`alter sequence ${sequence.name} owned by none`);
    await client.query(`drop table public.${name}`);
    await client.query(`alter table partitioned.${name} set schema public`);
    for (let part = 0; part < partitionCount; part += 1)
      await client.query(
        `create table ${name}_part${part} partition of ${name} for values with (modulus ${partitionCount}, remainder ${part})`,
      );
  }
  await client.query('drop schema partitioned');
  for (const { from, name, definition } of keys)
    await client.query(`alter table ${from} add constraint ${name} ${definition}`);
}
