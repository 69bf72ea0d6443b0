import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { type Db, createDb } from '@parley/db';
import { createTestDatabase, openTestDatabase, seedOrganization, until } from '@parley/testing';
import { readArchive, writeArchive } from './backup/archive';
import { checkBackup, restoreBackup } from './backup/restore-backup';
import { bundle } from './testing/built-command';
import { type Cli, openCli } from './testing/run-command';

let cli: Cli;
let db: Db & { url: string };
const opened: Db[] = [];

beforeAll(async () => {
  cli = openCli();
  db = await openTestDatabase(createDb);
  await fill(db);
});
afterAll(async () => {
  for (const one of opened) await one.close();
  await db.close();
  cli.remove();
});

const parley = (args: string[], url: string) => cli.parley(args, { env: { DATABASE_URL: url } });
const succeed = (args: string[], url: string) => cli.succeed(args, { env: { DATABASE_URL: url } });
const pathOf = (name: string): string => join(cli.folder, name);
const open = async (): Promise<Db & { url: string }> => {
  const other = await openTestDatabase(createDb);
  opened.push(other);
  return other;
};

const text = 'línea 1\nlínea 2\t\\. \\N "comillas" 日本語 🙂 \u0001 \u202e';

/** Rows in many tables, with values that a text format may spoil. */
async function fill(target: Db, slug = 'shop'): Promise<void> {
  const { scope } = await seedOrganization(target.pool, {
    slug,
    agents: [{ slug: 'helper', systemPrompt: text }],
    entityTypes: [
      { slug: 'product', name: text, schema: { name: 'string' }, searchFields: ['name'] },
    ],
    roles: [{ slug: 'clerk', name: 'Clerk', policies: [] }],
    tools: [
      {
        name: 'shop.add',
        description: text,
        parameters: { type: 'object' },
        handlerCode: 'return 1',
      },
    ],
  });
  const of = [scope.tenant];
  const run = (sql: string, values: unknown[] = of) => target.pool.query(sql, values);
  await run(
    `insert into entities (id, tenant, environment, part, segment, pos, status, data, search, created_at, updated_at)
     select 'ent_' || n, $1, 'production', 1, 0, time_id(), 'active', jsonb_build_object('name', $2 || n, 'price', n / 3.0),
       to_tsvector('simple', 'lámpara ' || n), n, n from generate_series(1, 3000) n`,
    [scope.tenant, text],
  );
  await run(
    `insert into entity_fields (tenant, part, segment, field, value, pos)
     select $1, 1, 0, n % 5, decode(md5(n::text), 'hex'), n from generate_series(1, 15000) n`,
  );
  await run(
    `insert into threads (id, tenant, environment, external_id, updated_at) values ('thread_1', $1, 'development', 'web:1', now())`,
  );
  await run(
    `insert into executions (id, tenant, environment, thread_id, input) values (9007199254740993, $1, 'development', 'thread_1', 'hi')`,
  );
  await run(
    `insert into thread_messages (id, tenant, thread_id, execution_id, position, role, content, tool_calls)
     values ('msg_1', $1, 'thread_1', 9007199254740993, 0, 'user', $2, '[{"a": null}]')`,
    [scope.tenant, text],
  );
  await run(
    `insert into tool_calls (tenant, execution_id, call_id, name, args) values ($1, 9007199254740993, 'c', 'x', '{}')`,
  );
  await run(
    `insert into events (tenant, environment, type, payload, actor, relayed_at) values ($1, 'production', 'order.paid', '{"n": 1.50}', '{}', now())`,
  );
  await run(
    `insert into webhook_deliveries (id, provider, delivery_id, path, headers, body, status)
     values ('dlv_1', 'clerk', 'd1', '/webhook/clerk', '{}', '\\x00ff0a5c2e0a', 'processed')`,
    [],
  );
}

/**
 * A digest of the rows of each table, in any order, and the next numbers of sequences. Transaction
 * ids are left out.
 */
async function contentOf({ pool }: Db): Promise<Record<string, string>> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
       and not relispartition and relname <> '_prisma_migrations' order by 1`,
  );
  const found: Record<string, string> = {};
  for (const { name } of tables) {
    const { rows } = await pool.query<{ digest: string }>(
      `select count(*) || ' ' || coalesce(md5(string_agg(line, '' order by line)), '') as digest
       from (select (to_jsonb(t) - 'xid')::text as line from ${name} t) l`,
    );
    found[name] = rows[0]!.digest;
  }
  const { rows } = await pool.query<{ name: string; value: string }>(
    `select sequencename as name, coalesce(last_value, 0)::text as value from pg_sequences where schemaname = 'public'`,
  );
  for (const { name, value } of rows) found[name] = value;
  return found;
}

/** The JSON files of a backup, to be made wrong. */
interface ManifestOrEnd {
  parley: string;
  migrations: string[];
  tables: { name: string; columns: string[] }[];
  rows: Record<string, number>;
  sequences: Record<string, string>;
}

interface Entry {
  name: string;
  content: Buffer;
}

/** Copies a backup with other entries and, unless it is kept, the checksum that fits them. */
async function rewrite(
  from: string,
  to: string,
  change: (entries: Entry[]) => Entry[],
  keepsChecksum = false,
) {
  const entries: Entry[] = [];
  for await (const { name, content } of readArchive(from, () => Infinity))
    entries.push({ name, content });
  const changed = change(entries.slice(0, -1));
  const checksum = createHash('sha256');
  for (const { name, content } of changed)
    checksum.update(`${name}\n${content.length}\n`).update(content);
  await writeArchive(to, {}, async (add) => {
    for (const { name, content } of changed) await add(name, content);
    if (keepsChecksum) await add('sha256', entries.at(-1)!.content);
    else await add('sha256', Buffer.from(checksum.digest('hex')));
  });
  return to;
}

/** Changes the JSON of one entry. */
const withJson =
  (name: string, change: (value: ManifestOrEnd) => void) =>
  (entries: Entry[]): Entry[] =>
    entries.map((entry) => {
      if (entry.name !== name) return entry;
      const value = JSON.parse(entry.content.toString());
      change(value);
      return { name, content: Buffer.from(JSON.stringify(value)) };
    });

/** Replaces the rows of one chunk. */
const withRows =
  (table: string, change: (rows: Buffer) => Buffer) =>
  (entries: Entry[]): Entry[] =>
    entries.map((entry) =>
      entry.name === `tables/${table}/000001.gz`
        ? { name: entry.name, content: gzipSync(change(gunzipSync(entry.content))) }
        : entry,
    );

let backups = 0;
async function backUp(url = db.url): Promise<string> {
  const file = pathOf(`backup-${(backups += 1)}`);
  await succeed(['backup', file], url);
  return file;
}

test('a backup has all rows of one moment, and only its account can read it', async () => {
  const file = pathOf('all.backup');
  const run = await parley(['backup', file], db.url);
  expect(run).toMatchObject({ exitCode: 0, stdout: '' });
  expect(run.stderr).toMatch(/Saved 18,\d+ rows to .*all\.backup \(\d+ kB, .*\)/);
  expect(run.stderr).toContain('SECRETS_KEY is not in it');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const again = await parley(['backup', file], db.url);
  expect(again).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('already exists') });
  const absent = await parley(['backup', pathOf('absent/x')], db.url);
  expect(absent).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/^error: Cannot write .*no such file/),
  });
});

test('a restore into a database without tables creates them and has the same rows, sequences and working keys', async () => {
  const file = await backUp();
  const empty = await open();
  await empty.pool.query('drop schema public cascade');
  await empty.pool.query('create schema public');
  const done = JSON.parse(await succeed(['restore', file, '--json'], empty.url));
  expect(done).toMatchObject({ rows: expect.any(Number) });
  expect(await contentOf(empty)).toEqual(await contentOf(db));
  await seedOrganization(empty.pool, { slug: 'next' });
  await expect(
    empty.pool.query(`delete from threads where id = 'thread_1'`),
  ).resolves.toMatchObject({ rowCount: 1 });
  const { rows } = await empty.pool.query('select count(*)::int as left from thread_messages');
  expect(rows).toEqual([{ left: 0 }]);
  const { rows: xids } = await empty.pool.query(
    "select xid < pg_current_xact_id() as past, xid <> '1' as own from events",
  );
  expect(xids).toEqual([{ past: true, own: true }]);
});

test('partitioned tables are saved and restored', async () => {
  const database = await createTestDatabase({ isPartitioned: true });
  const partitioned = createDb({ databaseUrl: database.url });
  try {
    await succeed(['restore', await backUp()], database.url);
    expect(await contentOf(partitioned)).toEqual(await contentOf(db));
    const back = await open();
    await succeed(['restore', await backUp(database.url)], back.url);
    expect(await contentOf(back)).toEqual(await contentOf(db));
  } finally {
    await partitioned.close();
    await database.drop();
  }
});

test('a database with rows is replaced only with --replace and a confirmation', async () => {
  const file = await backUp();
  const other = await open();
  await fill(other, 'other');
  await other.pool.query(`select setval('entity_sequence', 2000000)`);
  const before = await contentOf(other);
  const refused = await parley(['restore', file], other.url);
  expect(refused).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/is not empty: .* have rows.*--replace/),
  });
  const unconfirmed = await parley(['restore', file, '--replace'], other.url);
  expect(unconfirmed).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--yes') });
  expect(await contentOf(other)).toEqual(before);
  await succeed(['restore', file, '--replace', '--yes'], other.url);
  // No number is given twice: a sequence that is past the backup stays where it is.
  expect(await contentOf(other)).toEqual({ ...(await contentOf(db)), entity_sequence: '2000000' });
});

test('a backup of another schema is refused with both versions and what to do', async () => {
  const file = await backUp();
  const empty = await open();
  const older = await rewrite(
    file,
    pathOf('older'),
    withJson('manifest.json', (m) => (m.parley = '0.0.9') && m.migrations.pop()),
  );
  expect(await parley(['restore', older], empty.url)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(
      /made by an earlier version \(0\.0\.9; this is .*\), without 2026\d+_\w+\. Restore it with the version that made it/,
    ),
  });
  const newer = await rewrite(
    file,
    pathOf('newer'),
    withJson('manifest.json', (m) => m.migrations.push('20990101_new')),
  );
  expect(await parley(['restore', newer], empty.url)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(
      /is of a newer schema .* with 20990101_new\. Restore it with the version that added them/,
    ),
  });
});

/** The first and the last migration of the versions before 0.1.0. */
const replaced = ['20261120000000_init', '20261201140001_expand_author_of_trigger_runs'];

/** With the migrations of that time, and a table that the baseline does not have. */
function asBeforeBaseline(entries: Entry[]): Entry[] {
  const name = 'shared_messaging_secrets';
  const inManifest = withJson('manifest.json', (manifest) => {
    manifest.migrations = replaced;
    manifest.tables.push({ name, columns: ['fingerprint', 'noted_at'] });
  });
  const inEnd = withJson('end.json', (end) => (end.rows[name] = 1));
  const rows = {
    name: `tables/${name}/000001.gz`,
    content: gzipSync('0123456789abcdef\t2026-11-20 10:00:00+00\n'),
  };
  const changed = inEnd(inManifest(entries));
  return [...changed.slice(0, -1), rows, changed.at(-1)!];
}

test('a backup made before the baseline is restored, if it has the last schema of that time', async () => {
  const file = await backUp();
  const before = await rewrite(file, pathOf('before-baseline'), asBeforeBaseline);
  const empty = await open();
  await succeed(['restore', before], empty.url);
  expect(await contentOf(empty)).toEqual(await contentOf(db));

  const older = await rewrite(
    file,
    pathOf('long-before-baseline'),
    withJson('manifest.json', (m) => (m.migrations = replaced.slice(0, 1))),
  );
  expect(await parley(['restore', older, '--replace', '--yes'], empty.url)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/made by an earlier version .*, without \d+_baseline/),
  });
});

describe('files that are refused, with the database as it was', () => {
  let file: string;
  let other: Db & { url: string };
  let before: Record<string, string>;
  beforeAll(async () => {
    file = await backUp();
    other = await open();
    await seedOrganization(other.pool, { slug: 'kept' });
    before = await contentOf(other);
  });

  async function refuse(path: string, message: RegExp): Promise<void> {
    const { exitCode, stderr } = await parley(['restore', path, '--replace', '--yes'], other.url);
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringMatching(message) });
    expect(stderr).not.toContain('--debug');
    expect(await contentOf(other)).toEqual(before);
  }

  test('a file that was cut off anywhere', async () => {
    const whole = readFileSync(file);
    for (const share of [0, 0.001, 0.3, 0.5, 0.9, 0.999]) {
      writeFileSync(pathOf('cut'), whole.subarray(0, Math.floor(whole.length * share)));
      await refuse(pathOf('cut'), /is not a usable backup/);
    }
    await refuse(pathOf('none'), /none does not exist/);
    writeFileSync(pathOf('text'), 'not a tar file\n'.repeat(100));
    await refuse(pathOf('text'), /is not a usable backup/);
  });

  test('a file in which one byte differs', async () => {
    const whole = readFileSync(file);
    const chunk = whole.indexOf(Buffer.from([0x1f, 0x8b])) + 60;
    const digit = whole.indexOf('"entity_sequence": "') + 20;
    for (const at of [100, 700, chunk, digit]) {
      const changed = Buffer.from(whole);
      changed[at] = changed[at]! ^ 1;
      writeFileSync(pathOf('changed'), changed);
      await refuse(pathOf('changed'), /is not a usable backup/);
    }
  });

  test.each<[string, (entries: Entry[]) => Entry[], RegExp]>([
    [
      'a chunk that expands without end',
      withRows('entities', () => Buffer.alloc(64 * 1024 ** 2)),
      /is damaged/,
    ],
    [
      'a huge entry',
      (all) => [
        ...all.slice(0, 1),
        { name: 'manifest.json', content: Buffer.alloc(2 * 1024 ** 2) },
      ],
      /too large|out of order/,
    ],
    [
      'fewer rows than it says',
      withJson('end.json', (end) => (end.rows.entities = 5)),
      /entities has 3000 rows instead of 5/,
    ],
    [
      'rows of a table that it does not name',
      (all) => [
        ...all.slice(0, -1),
        { name: 'tables/pg_authid/000001.gz', content: gzipSync('x\n') },
        all.at(-1)!,
      ],
      /out of order/,
    ],
    [
      'a path outside',
      (all) => [all[0]!, { name: '../../etc/passwd', content: Buffer.from('x') }, ...all.slice(1)],
      /out of order/,
    ],
    [
      'a missing chunk',
      (all) => all.filter(({ name }) => name !== 'tables/entities/000001.gz'),
      /out of order|rows instead of/,
    ],
    [
      'a table of the system',
      withJson(
        'manifest.json',
        (m) => (m.tables = [...m.tables, { name: 'pg_authid', columns: ['rolname'] }]),
      ),
      /instead of undefined/,
    ],
    [
      'a name with SQL',
      withJson('manifest.json', (m) => (m.tables[0]!.name = 'users; drop table users')),
      /manifest\.json/,
    ],
    [
      'another column',
      withJson('manifest.json', (m) =>
        m.tables.find((t) => t.name === 'users')!.columns.push('admin'),
      ),
      /columns of users/,
    ],
    [
      'a missing table',
      (all) =>
        withJson(
          'end.json',
          (end) => delete end.rows.roles,
        )(
          withJson(
            'manifest.json',
            (m) => (m.tables = m.tables.filter((t) => t.name !== 'roles')),
          )(all),
        ).filter(({ name }) => !name.includes('/roles/')),
      /has the table roles, which the backup does not have/,
    ],
  ])('%s', async (name, change, message) => {
    const path = await rewrite(file, pathOf(`hostile-${name.replace(/\W/g, '-')}`), change);
    await refuse(path, message);
  });

  test('a mark that would end a table early, and rows that break a constraint', async () => {
    const cut = await rewrite(
      file,
      pathOf('mark'),
      withRows('entities', (rows) =>
        Buffer.from(
          rows
            .toString('latin1')
            .replace('\n', '\n\\.\n')
            .replace(/\n[^\n]*\n$/, '\n'),
          'latin1',
        ),
      ),
    );
    const { exitCode, stderr } = await parley(['restore', cut, '--replace', '--yes'], other.url);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/PostgreSQL read|end-of-copy|entities/);
    expect(await contentOf(other)).toEqual(before);
    const orphan = await rewrite(
      file,
      pathOf('orphan'),
      withRows('thread_messages', (rows) =>
        Buffer.from(rows.toString('latin1').replace('thread_1', 'thread_2'), 'latin1'),
      ),
    );
    expect(await parley(['restore', orphan, '--replace', '--yes'], other.url)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('foreign key'),
    });
    expect(await contentOf(other)).toEqual(before);
  });

  test.each(['x', 'g', 'L', 'K'])(
    'an entry of the type %s, which would be collected in memory',
    async (type) => {
      const whole = readFileSync(file);
      const content = Buffer.alloc(512, '20 path=manifest.json\n\0');
      const header = Buffer.from(whole.subarray(0, 512));
      header.write(`${content.length.toString(8).padStart(11, '0')} `, 124);
      header.write(type, 156);
      header.fill(' ', 148, 156);
      header.write(
        `${header
          .reduce((sum, byte) => sum + byte, 0)
          .toString(8)
          .padStart(6, '0')}\0 `,
        148,
      );
      writeFileSync(pathOf('extended'), Buffer.concat([header, content, whole]));
      await refuse(
        pathOf('extended'),
        /is not a usable backup: it contains something other than files/,
      );
    },
  );

  test.each<[string, (entries: Entry[]) => Entry[]]>([
    [
      'columns',
      withJson('manifest.json', (m) => m.tables.find((t) => t.name === 'users')!.columns.reverse()),
    ],
    [
      'rows',
      withRows('entities', (rows) =>
        Buffer.from(rows.toString('latin1').replace('price', 'prize'), 'latin1'),
      ),
    ],
  ])('a file that was replaced by one with other %s after the check', async (_what, change) => {
    const path = pathOf('replaced');
    copyFileSync(file, path);
    const checked = await checkBackup(path, () => {});
    await rewrite(file, path + '.new', change);
    copyFileSync(path + '.new', path);
    rmSync(path + '.new');
    const options = {
      databaseUrl: other.url,
      isWanted: () => {},
      onRows: () => {},
      finish: async () => {},
    };
    await expect(restoreBackup(path, checked, options)).rejects.toThrow(
      'was changed while it was restored',
    );
    expect(await contentOf(other)).toEqual(before);
  });

  test('a backup whose checksum does not fit', async () => {
    const path = await rewrite(
      file,
      pathOf('checksum'),
      withJson('end.json', (end) => (end.sequences.entity_sequence = '7')),
      true,
    );
    await refuse(path, /its checksum does not match/);
  });
});

test('a restore that is killed leaves the database as it was', async () => {
  const big = await open();
  await fill(big);
  await big.pool.query(
    `insert into entity_fields (tenant, part, segment, field, value, pos)
     select 1, 1, 1, n % 50, decode(md5(n::text), 'hex'), n from generate_series(1, 300000) n`,
  );
  const file = await backUp(big.url);
  const other = await open();
  await seedOrganization(other.pool, { slug: 'kept' });
  const before = await contentOf(other);
  const child: ChildProcess = spawn(
    process.execPath,
    [bundle, 'restore', file, '--replace', '--yes'],
    {
      env: { PATH: process.env.PATH, DATABASE_URL: other.url },
      stdio: 'ignore',
    },
  );
  const copying = `select from pg_stat_activity where datname = current_database() and state = 'active'
    and application_name = 'parley-backup' and query like 'copy "entity_fields"%'`;
  await until(async () => (await other.pool.query(copying)).rowCount === 1);
  child.kill('SIGKILL');
  expect(await contentOf(other)).toEqual(before);
});
