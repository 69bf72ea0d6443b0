import pg from 'pg';

/**
 * Creates entities of a third tenant that contain the searched words, to measure their effect
 * on other tenants.
 */
export async function addNoise(databaseUrl: string, count: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(
      `insert into entities (id, tenant, environment, part, segment, pos, status, data, search, created_at, updated_at)
       select 'ent_' || lpad(to_hex(pos), 16, '0') || 'noisynoisy', t.tenant, t.environment, t.no, 1000 + n / 1000, pos, 'active',
         '{"name": "Customer"}',
         ('''' || t.no || ':customer'':1A ''' || t.no || ':w' || n % 1000 || ''':3B')::tsvector, pos >> 21, pos >> 21
       from (select n, ((extract(epoch from now())::bigint * 1000 + n) << 21) as pos from generate_series(1, ${count}) n) x,
         entity_types t where t.id = 'type_3'`,
    );
    await client.query('vacuum analyze entities');
  } finally {
    await client.end();
  }
}
