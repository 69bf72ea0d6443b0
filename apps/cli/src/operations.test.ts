import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDb, type Db } from '@parley/db';
import { addMember, createIdentify, createUser, lockInvitation } from '@parley/identity';
import {
  createTestDatabase,
  createTestRedis,
  seedOrganization,
  startSentinels,
} from '@parley/testing';
import { type Cli, openCli } from './testing/run-command';
import { type ManageUnderTest, startManage } from './testing/manage-under-test';

let stack: ManageUnderTest;
let db: Db;
let cli: Cli;

beforeAll(async () => {
  cli = openCli();
  stack = await startManage();
  ({ db } = stack);
});
afterAll(async () => {
  await stack.close();
  cli.remove();
});

const parley = (args: string[], env: Record<string, string> = {}) =>
  cli.parley(args, { env: { DATABASE_URL: stack.databaseUrl, ...env } });
const succeed = (args: string[], env: Record<string, string> = {}) =>
  cli.succeed(args, { env: { DATABASE_URL: stack.databaseUrl, ...env } });

/** Identifies a key like a process that has not cached it. */
const identified = (key: string) =>
  createIdentify(db)({ headers: { authorization: `Bearer ${key}` } });

test('doctor names the folders of definitions, not another package in a folder of that name', async () => {
  const project = async () =>
    (JSON.parse((await parley(['doctor', '--json'])).stdout) as { findings: { name: string }[] })
      .findings[1];
  const tools = join(cli.folder, 'tools');
  mkdirSync(tools);
  expect(await project()).toMatchObject({
    name: 'Project',
    state: 'ok',
    detail: 'this folder has tools',
  });
  writeFileSync(join(tools, 'package.json'), '{}');
  expect(await project()).toMatchObject({
    state: 'skipped',
    detail: 'no definitions in this folder',
  });
  rmSync(tools, { recursive: true });
});

test('doctor waits for Redis, and reports why it cannot connect', async () => {
  const redisFinding = async (url: string) => {
    const { stdout } = await parley(['doctor', '--json'], { REDIS_URL: url });
    const { findings } = JSON.parse(stdout) as { findings: { name: string }[] };
    return findings.find(({ name }) => name === 'Redis');
  };
  const { url } = await createTestRedis();
  expect(JSON.stringify(await redisFinding(url))).toMatch(/connected|maxmemory-policy is/);
  expect(await redisFinding('redis://127.0.0.1:1')).toMatchObject({
    state: 'failed',
    detail: expect.stringMatching(/^cannot connect: .*ECONNREFUSED/),
  });
  expect(await redisFinding('redis://a:1,b:2')).toMatchObject({
    state: 'failed',
    detail: expect.stringMatching(/^REDIS_URL has several addresses\. Use redis-sentinel:/),
  });
  const sentinels = await startSentinels();
  expect(JSON.stringify(await redisFinding(sentinels.url))).toMatch(/connected/);
  await sentinels.stop();
});

describe('the command line', () => {
  test('--help lists the commands', async () => {
    const { exitCode, stdout } = await parley(['--help']);
    expect(exitCode).toBe(0);
    for (const command of [
      'migrate',
      'demo',
      'push',
      'chat',
      'org',
      'keys',
      'threads',
      'executions',
    ])
      expect(stdout).toContain(`  ${command} `);
  });

  test.each([
    ['an unknown command', ['nope'], "unknown command 'nope'"],
    [
      'a missing option',
      ['keys', 'create', '--env', 'development'],
      "required option '--permissions <list>'",
    ],
    [
      'an unknown environment',
      createKey({ env: 'staging' }),
      '--env must be development or production',
    ],
    [
      'an unknown permission',
      createKey({ permissions: 'chat,admin' }),
      '--permissions must be chat, data, sync, manage or *',
    ],
    ['an expiry in the past', createKey({ expires: '2001-01-01' }), '--expires is in the past'],
    [
      'an invalid expiry',
      createKey({ expires: 'soon' }),
      '--expires must be 30d, 12h, 2w or a date',
    ],
    [
      'a negative number',
      ['events', 'tail', '--last', '-1'],
      '--last must be a number from 0 to 1000, not "-1"',
    ],
    [
      'an unknown provider',
      ['webhooks', 'list', '--provider', 'bogus'],
      'clerk, kapso, flow, polar, resend',
    ],
    ['a bad slug', ['org', 'create', '--slug', 'a b', '--name', 'A'], '--slug must be letters'],
  ])('%s is refused with status 2 and one line', async (_, args, message) => {
    const { exitCode, stdout, stderr } = await parley(args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(message);
    expect(
      stderr
        .trim()
        .replace(/\nRun the command with --help .*$/, '')
        .split('\n'),
    ).toHaveLength(1);
  });

  test('a missing or unreachable database is reported with status 1 and one line', async () => {
    const unset = await parley(['org', 'list'], { DATABASE_URL: '' });
    expect(unset).toMatchObject({ exitCode: 1, stdout: '' });
    // Without DATABASE_URL the message depends on whether a stack runs in this checkout.
    const dead = await parley(['org', 'list'], {
      DATABASE_URL: 'postgres://u:secret@127.0.0.1:1/x',
    });
    expect(dead).toMatchObject({ exitCode: 1, stdout: '' });
    expect(dead.stderr).toMatch(
      /^error: Cannot connect to PostgreSQL at postgres:\/\/u@127\.0\.0\.1:1\/x: .*\n$/,
    );
    expect(dead.stderr).not.toContain('secret');
    const debugged = await parley(['org', 'list', '--debug'], {
      DATABASE_URL: 'postgres://127.0.0.1:1/x',
    });
    expect(debugged.stderr).toContain('    at ');
  });
});

function createKey(changed: Record<string, string> = {}): string[] {
  const options = { env: 'development', permissions: 'chat,data', name: 'test', ...changed };
  return [
    'keys',
    'create',
    ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]),
  ];
}

test('migrate applies all migrations to an empty database once, and --check reports whether any is missing', async () => {
  const empty = await createTestDatabase();
  const env = { DATABASE_URL: empty.url };
  try {
    const admin = createDb({ databaseUrl: empty.url });
    await admin.pool.query('drop schema public cascade');
    await admin.pool.query('create schema public');
    await admin.close();
    const unmigrated = await parley(['demo'], env);
    expect(unmigrated).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('Run: parley migrate'),
    });
    expect(await parley(['migrate', '--check'], env)).toMatchObject({ exitCode: 1, stdout: '' });
    // --check --wait ends when the migrations are applied.
    const waiting = succeed(['migrate', '--check', '--wait', '120'], env);
    const runs = await Promise.all([parley(['migrate'], env), parley(['migrate'], env)]);
    expect(await waiting).toBe('The database is up to date.');
    expect(runs.map(({ stdout }) => stdout.split(' ')[0]).sort()).toEqual(['Applied', 'The']);
    expect(await succeed(['migrate', '--check'], env)).toBe('The database is up to date.');
  } finally {
    await empty.drop();
  }
});

test('migrate never calls a database up to date that a newer version has migrated', async () => {
  const newer = await createTestDatabase();
  const env = { DATABASE_URL: newer.url };
  const admin = createDb({ databaseUrl: newer.url });
  const record = (name: string) =>
    admin.pool.query(
      `insert into _prisma_migrations (id, checksum, migration_name, finished_at) values ($1, '', $1, now())`,
      [name],
    );
  try {
    await record('29990101000000_expand_notes');
    const worksWithIt =
      'The database has 29990101000000_expand_notes of a newer version, which this version works with.';
    for (const args of [['migrate'], ['migrate', '--check']])
      expect(await succeed(args, env)).toBe(worksWithIt);
    expect(JSON.parse(await succeed(['migrate', '--json'], env))).toEqual({
      applied: [],
      newer: ['29990101000000_expand_notes'],
    });
    await record('29990101000001_contract_notes');
    for (const args of [['migrate'], ['migrate', '--check'], ['demo']])
      expect(await parley(args, env)).toMatchObject({
        exitCode: 1,
        stdout: '',
        stderr: expect.stringMatching(
          /newer than this version: it has 29990101000001_contract_notes\. Deploy the version/,
        ),
      });
  } finally {
    await admin.close();
    await newer.drop();
  }
});

describe('organizations and keys', () => {
  test('without an organization, keys create says how to create one', async () => {
    const { exitCode, stderr } = await parley(createKey());
    expect(exitCode).toBe(1);
    expect(stderr).toContain('There is no organization yet. Create one with: parley org create');
  });

  test('an organization is created once, and is the default while it is the only one', async () => {
    expect(
      JSON.parse(await succeed(['org', 'create', '--slug', 'acme', '--name', 'Acme'])),
    ).toMatchObject({
      slug: 'acme',
    });
    const again = await parley(['org', 'create', '--slug', 'acme', '--name', 'Acme']);
    expect(again).toMatchObject({
      exitCode: 1,
      stderr: 'error: An organization with the slug "acme" already exists\n',
    });
    expect(await succeed(createKey())).toMatch(/^sk_dev_/);
  });

  test('with several organizations a command needs --org, and names them', async () => {
    await succeed(['org', 'create', '--slug', 'demo', '--name', 'Demo']);
    expect(await parley(createKey())).toMatchObject({
      exitCode: 1,
      stderr: 'error: There are several organizations. Choose one with --org acme | demo\n',
    });
    await db.pool.query(`delete from organizations where slug = 'demo'`);
  });

  /** A key with the permission manage, and commands with it, which have no DATABASE_URL. */
  const remote = async (environment = 'development') => {
    const env = stack.envOf(
      await succeed(createKey({ env: environment, org: 'acme', permissions: 'manage' })),
    );
    const run = (args: string[], input = '') => cli.parley(args, { env, input });
    return { env, run, succeed: (args: string[]) => cli.succeed(args, { env }) };
  };

  test('keys create prints only the key, which works until it is revoked by its prefix', async () => {
    const key = await succeed(
      createKey({ env: 'production', org: 'acme', expires: '30d', permissions: 'data, chat' }),
    );
    expect(key).toMatch(/^sk_prod_[\w-]{43}$/);
    expect(await identified(key)).toMatchObject({
      environment: 'production',
      permissions: new Set(['data', 'chat']),
    });

    const { run, succeed: manage } = await remote('production');
    const listed = JSON.parse(await manage(['keys', 'list', '--org', 'acme', '--json']));
    const [, summary] = listed.data as { id: string; prefix: string; expiresAt: number }[];
    expect(summary!.expiresAt - Date.now()).toBeGreaterThan(29 * 86_400_000);
    expect(JSON.stringify(listed)).not.toContain(key);
    expect(await manage(['keys', 'list'])).toContain(`${summary!.prefix}…`);

    expect(await manage(['keys', 'revoke', `${summary!.prefix}…`])).toBe(
      `Revoked key ${summary!.id}.`,
    );
    expect(await identified(key)).toBeNull();
    expect(await run(['keys', 'revoke', summary!.prefix])).toMatchObject({ exitCode: 1 });
    const { succeed: inDevelopment } = await remote();
    expect(await inDevelopment(['keys', 'list'])).not.toContain(summary!.prefix);
  });

  test('keys revoke takes the whole key, also from stdin, and never prints it', async () => {
    const { run } = await remote();
    const revoke = (argument: string, input?: string) =>
      run(['keys', 'revoke', argument, '--org', 'acme'], input);
    const keys = [
      await succeed(createKey({ org: 'acme' })),
      await succeed(createKey({ org: 'acme' })),
    ] as const;
    const revoked = { exitCode: 0, stdout: expect.stringMatching(/^Revoked key key_\w+\.\n$/) };
    expect(await revoke(keys[0])).toMatchObject(revoked);
    expect(await identified(keys[0])).toBeNull();
    expect(await identified(keys[1])).not.toBeNull();
    expect(await revoke('-', `${keys[1]}\n`)).toMatchObject(revoked);
    expect(await identified(keys[1])).toBeNull();
    for (const key of [keys[0], `${keys[0]}x`]) {
      const again = await revoke(key);
      expect(again.exitCode).toBe(1);
      expect(again.stderr).toContain(`There is no active key "${key.slice(0, 13)}…"`);
      expect(again.stdout + again.stderr).not.toContain(key.slice(13));
    }
  });

  test('without the database a key is created and rotated over the API, and the audit log names it', async () => {
    const { run, succeed: manage } = await remote();
    const key = await manage(createKey({ permissions: 'chat', name: 'site' }));
    expect(await identified(key)).toMatchObject({ permissions: new Set(['chat']) });
    const next = await manage(['keys', 'rotate', key, '--overlap', '0']);
    expect(await identified(next)).toMatchObject({ permissions: new Set(['chat']) });
    expect(await identified(key)).toBeNull();
    expect(await run(['keys', 'rotate', next, '--overlap', 'soon'])).toMatchObject({ exitCode: 2 });
    expect(await run(createKey({ env: 'production' }))).toMatchObject({
      exitCode: 2,
      stderr: 'error: The key is of development. Set PARLEY_API_KEY to a key of production\n',
    });
    const log = await manage(['audit', '--action', 'api_key.rotated']);
    expect(log).toMatch(
      /^WHEN +ACTION +WHO +FROM +TARGET +BEFORE +AFTER\n\S+ \S+ +api_key\.rotated +api_key test +\S+ +api_key key_/,
    );
    expect(
      JSON.parse(await manage(['audit', '--json', '--action', 'api_key.created'])).data,
    ).toHaveLength(1);
  });

  test('--org is required with several organizations, unless one is the demo', async () => {
    await succeed(['org', 'create', '--slug', 'beta', '--name', 'Beta']);
    expect((await parley(createKey())).stderr).toBe(
      'error: There are several organizations. Choose one with --org acme | beta\n',
    );
    expect((await parley(createKey({ org: 'nope' }))).stderr).toContain(
      'No organization has the slug "nope"',
    );
  });

  test('org purges shows deleted organizations with the time and the number of rows', async () => {
    expect(await parley(['org', 'purges'])).toMatchObject({
      exitCode: 0,
      stdout: '',
      stderr: 'No purges\n',
    });
    const report = { entities: 1200, api_keys: 2, organizations: 1 };
    for (const [id, runAt, finishedAt, given] of [
      ['purge_1', '2026-01-05T10:00:00Z', '2026-01-05T10:00:07Z', report],
      ['purge_2', '2026-01-06T10:00:00Z', null, { entities: 5 }],
      ['purge_3', '2999-01-01T00:00:00Z', null, {}],
    ] as const)
      await db.pool.query(
        `insert into organization_purges (id, organization_id, tenant, external_id, slug, run_at, finished_at, report, created_at)
         values ($1, 'org_' || $1, 0, 'ext_' || $1, 'shop-' || $1, $2, $3, $4, coalesce($3, now()))`,
        [id, runAt, finishedAt, JSON.stringify(given)],
      );
    const listed = JSON.parse(await succeed(['org', 'purges', '--json'])) as { purges: object[] };
    const finished = {
      slug: 'shop-purge_1',
      state: 'finished',
      deleted: report,
      organizationId: 'org_purge_1',
    };
    expect(listed.purges.at(-1)).toMatchObject({
      ...finished,
      finishedAt: '2026-01-05T10:00:07.000Z',
    });
    const states = (listed.purges as { id: string; state: string }[]).map(
      ({ id, state }) => `${id} ${state}`,
    );
    expect(states.sort()).toEqual(['purge_1 finished', 'purge_2 running', 'purge_3 waiting']);
    expect(await succeed(['org', 'purges'])).toMatch(/^shop-purge_1 +finished .* 1203$/m);
    for (const name of ['shop-purge_1', 'ext_purge_1', 'org_purge_1']) {
      const shown = await succeed(['org', 'purges', '--org', name]);
      expect(shown).toMatch(/^entities +1200$/m);
      expect(shown).toMatch(/^rows +1203$/m);
    }
    const [first, next] = JSON.parse(
      `[${await succeed(['org', 'purges', '--json', '--limit', '1'])}]`,
    )
      .map((page: { purges: { id: string }[]; next: string }) => [page.purges[0]!.id, page.next])
      .flat() as [string, string];
    expect(await succeed(['org', 'purges', '--limit', '2', '--cursor', next])).not.toContain(
      `shop-${first}`,
    );
  });

  test('org purges marks unsigned deletions, and --stop stops one that has not started', async () => {
    await db.pool.query('delete from organization_purges');
    const { scope } = await seedOrganization(db.pool, { slug: 'kept' });
    for (const [slug, signed, startedAt, organizationId] of [
      ['named-before', false, null, scope.organizationId],
      ['begun', false, '2026-01-06T10:00:00Z', 'org_begun'],
      ['proven', true, null, 'org_proven'],
    ] as const)
      await db.pool.query(
        `insert into organization_purges (id, organization_id, tenant, external_id, slug, signed, run_at, started_at)
         values ($1, $2, 0, 'ext_' || $3::text, $3, $4, now() + interval '1 day', $5)`,
        [`purge_${organizationId.replace('_', '')}`, organizationId, slug, signed, startedAt],
      );
    // An organization is shown under its current slug.
    const listed = await succeed(['org', 'purges']);
    for (const line of [
      /^kept +waiting +no +20/m,
      /^begun +running +no +20/m,
      /^proven +waiting +yes +20/m,
    ])
      expect(listed).toMatch(line);
    const doctor = () =>
      parley(['doctor']).then(({ stdout }) =>
        stdout.split('\n').find((line) => line.includes('Identity deliveries')),
      );
    expect(await doctor()).toMatch(/unsigned deliveries will delete kept \(due 20.*\)$/);
    const stop = (name: string) => parley(['org', 'purges', '--stop', name]);
    for (const [name, message] of [
      ['begun', 'The purge of begun is running and can no longer be stopped'],
      [
        'ext_proven',
        'The purge of proven was requested by a signed delivery and cannot be stopped',
      ],
      ['unknown', 'No purge of "unknown"'],
      ['named-before', 'No purge of "named-before"'],
    ] as const)
      expect(await stop(name)).toEqual({ exitCode: 1, stdout: '', stderr: `error: ${message}\n` });
    expect(await parley(['org', 'purges', '--stop', 'kept', '--org', 'kept'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('--stop cannot be combined with options other than --json'),
    });
    expect(JSON.parse(await succeed(['org', 'purges', '--stop', 'kept', '--json']))).toMatchObject({
      stopped: { slug: 'kept', state: 'stopped', signed: false, stoppedAt: expect.any(String) },
    });
    expect(await stop('kept')).toMatchObject({
      exitCode: 1,
      stderr: 'error: The purge of kept is already stopped\n',
    });
    expect(await succeed(['org', 'purges', '--org', 'kept'])).toMatch(/^stopped +20/m);
    expect(await doctor()).not.toContain('delete');
    await db.pool.query(`delete from organizations where slug = 'kept'`);
  });

  test('a role that does not exist is refused', async () => {
    const run = await parley(createKey({ org: 'acme', role: 'ghost' }));
    expect(run).toMatchObject({ exitCode: 1, stdout: '' });
    expect(run.stderr).toContain('No role "ghost" in development');
  });
});

describe('demo', () => {
  test('refuses a pooled connection', async () => {
    const pooled = { DATABASE_URL: 'postgresql://parley@127.0.0.1:1/parley?pgbouncer=true' };
    expect(await parley(['demo'], pooled)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('cannot use PgBouncer'),
    });
  });

  test('two concurrent runs create one organization with its data and one key', async () => {
    const runs = await Promise.all([succeed(['demo']), succeed(['demo'])]);
    const keys = runs.map((line) => JSON.parse(line)).map(({ key }) => key);
    expect(keys.filter((key) => key !== null)).toHaveLength(1);
    const { rows } = await db.pool.query(
      `select t.slug, count(*)::int from entities e join entity_types t on t.tenant = e.tenant and t.no = e.part group by 1 order by 1`,
    );
    expect(rows).toEqual([
      { slug: 'customer', count: 8 },
      { slug: 'order', count: 14 },
      { slug: 'product', count: 16 },
    ]);
    const { rows: configs } = await db.pool.query(
      `select environment::text, count(*)::int from agent_configs group by 1 order by 1`,
    );
    expect(configs).toEqual([
      { environment: 'development', count: 1 },
      { environment: 'production', count: 1 },
    ]);
  });

  test('another run keeps changes of people, and creates a key only with --new-key', async () => {
    await db.pool.query(`update agent_configs set name = 'Mine'`);
    await db.pool.query(
      `delete from entities where part in (select no from entity_types where slug = 'order')`,
    );
    expect(JSON.parse(await succeed(['demo']))).toEqual({ organization: 'demo', key: null });
    const { rows } = await db.pool.query(`select distinct name from agent_configs`);
    expect(rows).toEqual([{ name: 'Mine' }]);
    const { key } = JSON.parse(await succeed(['demo', '--new-key']));
    expect(await identified(key)).toMatchObject({ permissions: new Set(['*', 'manage']) });
  });
});

test('types list shows search fields and the progress of reindexing', async () => {
  const { tenant } = (await seedOrganization(db.pool, { slug: 'typed' })).scope;
  const env = stack.envOf(await succeed(createKey({ org: 'typed', permissions: 'manage' })));
  const add = (
    slug: string,
    searchFields: string[],
    indexedFields: string[],
    reindex: object | null,
  ) =>
    db.pool.query(
      `insert into entity_types (id, tenant, environment, slug, name, schema, search_fields, indexed_fields, reindex, updated_at)
       values ($2, $1, 'development', $2, $2, '{}', $3, $4, $5, now())`,
      [tenant, slug, searchFields, indexedFields, reindex && JSON.stringify(reindex)],
    );
  await add('done', ['name'], ['name'], null);
  await add('half', ['name', 'note'], ['name'], {
    fields: ['name', 'note'],
    pos: '1',
    done: 1200,
    share: 0.456,
  });
  await add('none', [], [], null);
  await add('waiting', ['name'], [], null);
  const stdout = await cli.succeed(['types', 'list'], { env });
  expect(stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
    ['TYPE', 'NAME', 'SEARCH FIELDS', 'SEARCH'],
    ['done', 'done', 'name', 'ready'],
    ['half', 'half', 'name, note', '45 % reindexed (1200)'],
    ['none', 'none', '-', '-'],
    ['waiting', 'waiting', 'name', 'waiting for the worker'],
  ]);
  const { data } = JSON.parse(
    await cli.succeed(['types', 'list', '--org', 'typed', '--json'], { env }),
  );
  expect(data[1]).toEqual({
    entityType: 'half',
    name: 'half',
    searchFields: ['name', 'note'],
    reindexing: { done: 1200, share: 0.456 },
  });
});

test('members invite prints one link that works, and with --first none while there is an admin', async () => {
  await parley(['org', 'create', '--slug', 'people', '--name', 'People']);
  const invite = (...more: string[]) =>
    succeed(['members', 'invite', '--org', 'people', ...more], {
      PUBLIC_URL: 'https://parley.example/',
    });
  const first = await invite();
  expect(first).toMatch(/^https:\/\/parley\.example\/console\/#\/join\/[\w-]{43}$/);
  const second = JSON.parse(await invite('--first', '--json'));
  const isOpen = async (link: string) =>
    (await db.transaction((tx) => lockInvitation(tx, link.split('/').at(-1)!)))!.isOpen;
  expect([await isOpen(first), await isOpen(second.link)]).toEqual([false, true]);
  const leftMs = Date.parse(second.expiresAt) - Date.now();
  expect(leftMs > 29 * 60_000 && leftMs <= 30 * 60_000).toBe(true);
  const { tenant } = (await db.transaction((tx) =>
    lockInvitation(tx, second.link.split('/').at(-1)!),
  ))!;
  await addMember(
    db,
    { tenant },
    await createUser(db, { email: 'ana@example.com', name: null }),
    'admin',
  );
  expect(JSON.parse(await invite('--first', '--json')).link).toBeNull();
  expect(await invite('--role', 'member')).not.toBe(first);
});

test('publishable-keys prints the key alone, lists it, and revokes it', async () => {
  await seedOrganization(db.pool, { slug: 'websites', agents: [{ slug: 'shop' }] });
  const env = stack.envOf(await succeed(createKey({ org: 'websites', permissions: 'manage' })));
  const run = (args: string[]) => cli.parley(args, { env });
  const manage = (args: string[]) => cli.succeed(args, { env });
  const create = [
    'publishable-keys',
    'create',
    '--name',
    'website',
    '--origins',
    'https://a.example, *.b.example',
  ];
  expect(await run(create)).toMatchObject({
    exitCode: 2,
    stderr: 'error: Name either --agent or --router\n',
  });
  expect((await run([...create, '--agent', 'none'])).stderr).toContain('No such agent or router');
  const limits = ['--per-visitor', '7', '--per-address', '8', '--per-key', '9'];
  const { exitCode, stdout, stderr } = await run([...create, '--agent', 'shop', ...limits]);
  expect((await run([...create, '--agent', 'shop', '--per-key', 'many'])).stderr).toContain(
    'limits.perKey',
  );
  const wrong = ['publishable-keys', 'create', '--name', 'website', '--agent', 'shop', '--origins'];
  expect((await run([...wrong, 'https://A.example:443/'])).stderr).toContain(
    'Browsers send https://A.example:443/ as https://a.example',
  );
  expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^pk_dev_[\w-]{22}\n$/)]);
  const [, id] = /^Created publishable key (\S+) for https:\/\/a\.example, \*\.b\.example\.$/m.exec(
    stderr,
  )!;
  const [, secret] = /^Identity secret.*: (\S{43})$/m.exec(stderr)!;
  const listed = await manage(['publishable-keys', 'list']);
  expect(listed).toContain(stdout.trim());
  expect(listed).not.toContain(secret);
  const all = JSON.parse(await manage(['publishable-keys', 'list', '--json']));
  expect(JSON.stringify(all)).toContain('"limits":{"perVisitor":7,"perAddress":8,"perKey":9}');
  expect(await manage(['publishable-keys', 'revoke', stdout.trim()])).toBe(
    `Revoked publishable key ${id}.`,
  );
  expect(await manage(['publishable-keys', 'revoke', id!])).toBe(`Revoked publishable key ${id}.`);
  expect(await manage(['publishable-keys', 'list'])).toMatch(/ revoked \d{4}-\d\d-\d\d$/m);
  expect(await run(['publishable-keys', 'revoke', 'pkey_none'])).toMatchObject({ exitCode: 1 });
});
