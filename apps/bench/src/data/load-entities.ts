import pg from 'pg';
import type { Scope } from '@parley/contracts';
import { type Db, newId } from '@parley/db';
import { createEntities } from '@parley/entities';

/**
 * One tenant has 200,000 entities, one has 1,000, and 198 tenants share the rest of the million.
 */
export const big: Scope = { organizationId: 'org_1', tenant: 1, environment: 'production' };
export const small: Scope = { organizationId: 'org_2', tenant: 2, environment: 'production' };
const tenants = 200;
export const type = 'customer';

export const actor = { type: 'system' } as const;

/** Paths that have one index row each. Each element of `tags` has another one. */
const paths = [
  'name',
  'email',
  'city',
  'amount',
  'score',
  'seq',
  'rare',
  'active',
  'tier',
  'note',
  'const',
  'address',
]
  .map((name) => [name])
  .concat([['address', 'zip'], ['tags'], ['maybe']]);

/**
 * Creates a million entities with index rows and search vectors, as the library would have stored
 * them over the last year. PostgreSQL generates them, which takes minutes instead of an hour. The
 * form of the rows is read from an entity that the library has stored.
 */
export async function loadEntities(db: Db, databaseUrl: string, total: number): Promise<void> {
  const { pool } = db;
  await pool.query(
    `insert into entity_types (id, tenant, environment, slug, name, schema, search_fields, indexed_fields, updated_at)
     select 'type_' || n, n, 'production', $1, $1, '{}', '{name,note}', '{name,note}', now() from generate_series(1, $2::int) n order by n`,
    [type, tenants],
  );
  const fields = await fieldNumbers(db);
  // Statements of the pool are limited to half a minute.
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(
      `set synchronous_commit = off; set work_mem = '256MB'; set maintenance_work_mem = '1GB'`,
    );
    const { rows: indexes } = await client.query<{ name: string; definition: string }>(
      `select indexname as name, indexdef as definition from pg_indexes where indexname = any($1)`,
      [['entity_fields_tenant_part_segment_field_value_pos_idx', 'entities_search_idx']],
    );
    for (const { name } of indexes) await client.query(`drop index ${name}`);
    await query(client, 'select setseed(0.42)');
    const share = Math.floor(total / 5);
    const order = `select tenant, t.no, row_number() over (order by r) as n, row_number() over (partition by t.no order by r) as k
      from (select i, random() as r, case when i <= ${share} then 1 when i <= ${share + 1_000} then 2 else 3 + i % ${tenants - 2} end as tenant
            from generate_series(1, ${total}) i) x join entity_types t using (tenant)`;
    await query(
      client,
      `insert into entities (id, tenant, environment, part, segment, pos, status, data, search, created_at, updated_at)
       select 'ent_' || lpad(to_hex(pos), 16, '0') || substr(md5(n::text), 1, 10), tenant, 'production', x.no, (k / 1000)::int, pos,
         case when k % 20 = 0 then 'archived' else 'active' end, data,
         ('''' || x.no || ':customer'':1A ''' || x.no || ':' || substr(md5(n::text), 1, 8) || ''':2A ''' || x.no || ':w' || n % 1000 || ''':3B')::tsvector,
         pos >> 21, pos >> 21
       from (select *, ((extract(epoch from now())::bigint * 1000 - (${total}::bigint - n) * 31) << 21) | (n & 2097151) as pos,
         jsonb_strip_nulls(jsonb_build_object('name', 'Customer ' || substr(md5(n::text), 1, 8), 'email', substr(md5(n::text), 1, 8) || '@example' || n % 100 || '.com',
           'city', 'city-' || (hashint4(n::int) & 63), 'amount', round((random() * 1000000)::numeric, 2), 'score', (random() * 100)::int,
           'seq', k, 'rare', case when k % 50000 = 17 then k end, 'maybe', case when n % 10 = 0 then n end, 'active', random() < 0.5,
           'tier', (array['gold', 'silver', 'bronze', 'none'])[1 + (random() * random() * 3.99)::int], 'note', md5(random()::text) || ' w' || n % 1000,
           'address', jsonb_build_object('zip', lpad(((random() * 99999)::int)::text, 5, '0')),
           'tags', jsonb_build_array('t' || n % 10, 'u' || n % 7), 'const', 'same')) as data from (${order}) o) x
       order by pos`,
    );
    const values = paths
      .map(
        (path) =>
          `(${fields.get(path.join('.'))}, entity_index_key(e.data #> '{${path.join(',')}}'))`,
      )
      .concat(`(${fields.get('status')}, entity_index_key(to_jsonb(e.status)))`)
      .concat(`(${fields.get('updatedAt')}, entity_index_key(to_jsonb(e.updated_at)))`)
      .concat(
        [0, 1].map(
          (at) => `(${fields.get('elements')}, entity_index_key(e.data -> 'tags' -> ${at}))`,
        ),
      );
    await query(
      client,
      `insert into entity_fields (tenant, part, segment, field, value, pos)
       select tenant, part, segment, field, value, pos from entities e cross join lateral (values ${values.join(', ')}) v(field, value)
       where value is not null and e.search is not null order by pos`,
    );
    await loadShapes(client, fields);
    for (const { definition } of indexes) await query(client, definition);
    await query(
      client,
      `update entity_types t set segment = 1 + (select max(segment) from entities e where e.tenant = t.tenant and part = t.no),
         segment_floor = (extract(epoch from now()) * 1000)::bigint, indexed_to = (extract(epoch from now()) * 1000)::bigint << 21`,
    );
    // For creates without the field index: the same entities with only the index of lists and
    // the primary key.
    await query(client, 'create table bench_entities (like entities including defaults)');
    await query(client, 'insert into bench_entities select * from entities order by pos');
    await query(client, 'alter table bench_entities add primary key (id, tenant)');
    await query(client, 'create unique index on bench_entities (tenant, part, pos desc)');
    for (const table of [
      'entities',
      'entity_fields',
      'entity_types',
      'entity_shapes',
      'bench_entities',
    ])
      await query(client, `vacuum analyze ${table}`);
    await query(client, 'checkpoint');
  } finally {
    await client.end();
  }
}

type Client = { query(text: string): Promise<unknown> };

const query = (client: Client, text: string): Promise<unknown> => client.query(text);

/** The sets of fields of the data. Their keys are arbitrary, as they only have to be distinct. */
async function loadShapes(client: Client, fields: Map<string, number>): Promise<void> {
  const always = paths
    .map((path) => path.join('.'))
    .filter((path) => path !== 'rare' && path !== 'maybe');
  for (const rare of [false, true]) {
    for (const maybe of [false, true]) {
      const names = [...always, ...(rare ? ['rare'] : []), ...(maybe ? ['maybe'] : [])];
      const shape = `'\\x8000000000000000${rare ? '1' : '0'}${maybe ? '1' : '0'}'::bytea`;
      const list = `array[${names.map((name) => fields.get(name)).join(',')}]`;
      await query(
        client,
        `insert into entity_shapes (tenant, type_no, shape, fields) select tenant, no, ${shape}, ${list} from entity_types`,
      );
      await query(
        client,
        `insert into entity_fields (tenant, part, segment, field, value, pos)
         select tenant, part, segment, ${fields.get('shape')}, ${shape}, pos from entities
         where search is not null and jsonb_exists(data, 'rare') = ${rare} and jsonb_exists(data, 'maybe') = ${maybe}`,
      );
    }
  }
}

/**
 * The library's numbers of the fields, read from entities that it has stored, with one field each.
 */
async function fieldNumbers(db: Db): Promise<Map<string, number>> {
  // Each entity fills a segment, which is then indexed.
  const entities = createEntities({ db, segmentSize: 1 });
  const numbers = new Map<string, number>();
  const scope: Scope = {
    organizationId: newId('org'),
    tenant: tenants + 1,
    environment: 'production',
  };
  await db.pool.query(
    `insert into entity_types (id, tenant, environment, slug, name, schema, search_fields, updated_at) values ($1, $2, 'production', 'probe', 'probe', '{}', '{}', now())`,
    [newId('type'), scope.tenant],
  );
  const probe = async (
    data: Record<string, string | { zip: string } | string[]>,
  ): Promise<{ field: number; value: string }[]> => {
    const created = await entities.create(scope, { type: 'probe', data, status: 'probing', actor });
    if (!created.ok) throw new Error(created.reason);
    await entities.settled();
    const { rows } = await db.pool.query<{ field: number; value: string }>(
      `select f.field, encode(f.value, 'escape') as value from entity_fields f join entities e using (tenant, part, pos) where e.tenant = $2 and e.id = $1`,
      [created.entity.value.id, scope.tenant],
    );
    return rows;
  };
  const find = (
    rows: { field: number; value: string }[],
    test: (value: string) => boolean,
  ): number => {
    const row = rows.find(({ value }) => test(value));
    if (row === undefined)
      throw new Error(
        'The library stores index rows in a form that this benchmark does not support',
      );
    return row.field;
  };
  const own = await probe({});
  numbers.set(
    'status',
    find(own, (value) => value === '@probing'),
  );
  numbers.set(
    'updatedAt',
    find(own, (value) => value.startsWith('0')),
  );
  numbers.set(
    'shape',
    find(own, (value) => !value.startsWith('@') && !value.startsWith('0')),
  );
  const known = new Set(numbers.values());
  for (const [name] of paths.filter((path) => path.length === 1)) {
    numbers.set(
      name!,
      find(await probe({ [name!]: 'here' }), (value) => value === '@here'),
    );
  }
  numbers.set(
    'address.zip',
    find(await probe({ address: { zip: 'here' } }), (value) => value === '@here'),
  );
  numbers.set(
    'elements',
    find(await probe({ tags: ['here'] }), (value) => value === '@here'),
  );
  if (new Set(numbers.values()).size !== numbers.size || known.size !== 3)
    throw new Error('Field numbers collide');
  for (const table of ['entity_fields', 'entities', 'entity_shapes', 'entity_types'])
    await db.pool.query(`delete from ${table} where tenant = $1`, [scope.tenant]);
  return numbers;
}
