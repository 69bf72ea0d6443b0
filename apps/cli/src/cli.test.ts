import { type ChildProcess, execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createApiKey, createApiKeyCheck, createDb, type Db } from '@parley/db';
import { pullResources, pushResources } from '@parley/resources';
import { badRequest, createApp, route, silentLogger } from '@parley/service';
import { syncBodySchema, syncPullSchema, syncResultSchema } from '@parley/contracts';
import { type TestDatabase, createTestDatabase } from '@parley/testing';
import { z } from 'zod';

const root = resolve(__dirname, '../../..');
/** Bundled beside dist/apps, as other test runs and `npm start` may be using that one. */
const dist = join(root, 'dist', `cli-test-${process.pid}`);
const bundle = join(dist, 'cli', 'main.cjs');

let database: TestDatabase;
let db: Db;
let folder: string;

beforeAll(async () => {
  const script = `
    import { build } from 'esbuild';
    import { buildOptions } from ${JSON.stringify(join(root, 'tools', 'build.mjs'))};
    await build({ ...buildOptions(['cli']), outdir: ${JSON.stringify(dist)} });`;
  execFileSync(process.execPath, ['--input-type=module', '-e', script, 'build'], { cwd: root });
  database = await createTestDatabase();
  db = createDb({ databaseUrl: database.url });
  folder = mkdtempSync(join(tmpdir(), 'parley-cli-'));
});
afterAll(async () => {
  await db.close();
  await database.drop();
  rmSync(dist, { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
});

interface Run {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs the bundle as a user would: in a folder of its own, with nothing of this process's environment but PATH. */
function parley(args: string[], { env = {}, input }: { env?: Record<string, string>; input?: string } = {}) {
  return new Promise<Run>((done) => {
    const child: ChildProcess = execFile(
      process.execPath,
      [bundle, ...args],
      { cwd: folder, env: { PATH: process.env.PATH, DATABASE_URL: database.url, ...env } },
      (error, stdout, stderr) => done({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
    child.stdin!.end(input ?? '');
  });
}

async function succeed(args: string[], options: Parameters<typeof parley>[1] = {}): Promise<string> {
  const run = await parley(args, options);
  if (run.code !== 0) throw new Error(`parley ${args.join(' ')}: ${run.code} ${run.stderr}`);
  return run.stdout.trim();
}

describe('calling it', () => {
  test('--help lists the commands', async () => {
    const { code, stdout } = await parley(['--help']);
    expect(code).toBe(0);
    for (const command of ['migrate', 'demo', 'push', 'chat', 'org', 'keys']) expect(stdout).toContain(`  ${command} `);
  });

  test.each([
    ['an unknown command', ['nope'], "unknown command 'nope'"],
    ['a missing option', ['keys', 'create', '--env', 'development'], "required option '--permissions <list>'"],
    ['an unknown environment', createKey({ env: 'staging' }), '--env must be development or production'],
    ['an unknown permission', createKey({ permissions: 'chat,admin' }), '--permissions knows chat, data, sync and *'],
    ['an expiry in the past', createKey({ expires: '2001-01-01' }), '--expires lies in the past'],
    ['an expiry that is none', createKey({ expires: 'soon' }), '--expires wants 30d, 12h, 2w or a date'],
    ['a bad slug', ['org', 'create', '--slug', 'a b', '--name', 'A'], '--slug must be letters'],
  ])('wrongly (%s) is status 2 and one line', async (_, args, message) => {
    const { code, stdout, stderr } = await parley(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  test('without a database, or with one that does not answer, is status 1 and one line', async () => {
    const unset = await parley(['keys', 'list'], { env: { DATABASE_URL: '' } });
    expect(unset).toMatchObject({ code: 1, stdout: '' });
    // A stack may be running in the checkout that this bundle belongs to: then it is asked, and has an answer of its own.
    const dead = await parley(['keys', 'list'], { env: { DATABASE_URL: 'postgres://u:secret@127.0.0.1:1/x' } });
    expect(dead).toMatchObject({ code: 1, stdout: '' });
    expect(dead.stderr).toMatch(/^error: PostgreSQL does not answer at postgres:\/\/u@127\.0\.0\.1:1\/x: .*\n$/);
    expect(dead.stderr).not.toContain('secret');
    const debugged = await parley(['keys', 'list', '--debug'], { env: { DATABASE_URL: 'postgres://127.0.0.1:1/x' } });
    expect(debugged.stderr).toContain('    at ');
  });
});

function createKey(changed: Record<string, string> = {}): string[] {
  const options = { env: 'development', permissions: 'chat,data', name: 'test', ...changed };
  return ['keys', 'create', ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])];
}

test('migrate brings an empty database up to date, once, and --check says whether it is', async () => {
  const empty = await createTestDatabase();
  const env = { DATABASE_URL: empty.url };
  try {
    const admin = createDb({ databaseUrl: empty.url });
    await admin.pool.query('drop schema public cascade');
    await admin.pool.query('create schema public');
    await admin.close();
    const unmigrated = await parley(['demo'], { env });
    expect(unmigrated).toMatchObject({ code: 1, stderr: expect.stringContaining('Run: parley migrate') });
    expect(await parley(['migrate', '--check'], { env })).toMatchObject({ code: 1, stdout: '' });
    const runs = await Promise.all([parley(['migrate'], { env }), parley(['migrate'], { env })]);
    expect(runs.map(({ stdout }) => stdout.split(' ')[0]).sort()).toEqual(['Applied', 'The']);
    expect(await succeed(['migrate', '--check'], { env })).toBe('The database is up to date.');
  } finally {
    await empty.drop();
  }
}, 30_000);

describe('organizations and keys', () => {
  test('without an organization, keys say what to do', async () => {
    const { code, stderr } = await parley(createKey());
    expect(code).toBe(1);
    expect(stderr).toContain('There is no organization yet; make one with: parley org create');
  });

  test('an organization is made once; the only one needs no name', async () => {
    expect(JSON.parse(await succeed(['org', 'create', '--slug', 'acme', '--name', 'Acme']))).toMatchObject({
      slug: 'acme',
    });
    const again = await parley(['org', 'create', '--slug', 'acme', '--name', 'Acme']);
    expect(again).toMatchObject({ code: 1, stderr: 'error: An organization with the slug "acme" exists already\n' });
    expect(await succeed(createKey())).toMatch(/^sk_dev_/);
  });

  test('a key is all that is printed, works, and is revoked by its prefix', async () => {
    const check = createApiKeyCheck(db.pool);
    const key = await succeed(createKey({ env: 'production', org: 'acme', expires: '30d', permissions: 'data, chat' }));
    expect(key).toMatch(/^sk_prod_[\w-]{43}$/);
    expect(await check(key)).toMatchObject({ environment: 'production', permissions: new Set(['data', 'chat']) });

    const listed = JSON.parse(await succeed(['keys', 'list', '--org', 'acme', '--json']));
    const [summary] = listed as { prefix: string; expiresAt: string }[];
    expect(Date.parse(summary!.expiresAt) - Date.now()).toBeGreaterThan(29 * 86_400_000);
    expect(JSON.stringify(listed)).not.toContain(key);
    expect(await succeed(['keys', 'list', '--org', 'acme'])).toContain(`${summary!.prefix}…`);

    expect(await succeed(['keys', 'revoke', `${summary!.prefix}…`, '--org', 'acme'])).toBe('Revoked 1 key.');
    expect(await createApiKeyCheck(db.pool)(key)).toBeNull();
    expect(await parley(['keys', 'revoke', summary!.prefix, '--org', 'acme'])).toMatchObject({ code: 1 });
  });

  test('several organizations must be named, unless one is the demo', async () => {
    await succeed(['org', 'create', '--slug', 'beta', '--name', 'Beta']);
    expect((await parley(createKey())).stderr).toBe('error: Which organization? Say --org acme | beta\n');
    expect((await parley(createKey({ org: 'nope' }))).stderr).toContain('No organization has the slug "nope"');
  });

  test('a role that is not there is refused', async () => {
    const run = await parley(createKey({ org: 'acme', role: 'ghost' }));
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toContain('No role "ghost" in development');
  });
});

describe('demo', () => {
  test('two at once make one organization, its data once and one key', async () => {
    const runs = await Promise.all([succeed(['demo']), succeed(['demo'])]);
    const keys = runs.map((line) => JSON.parse(line)).map(({ key }) => key);
    expect(keys.filter((key) => key !== null)).toHaveLength(1);
    const { rows } = await db.pool.query(
      `select t.slug, count(*)::int from entities e join entity_types t on t.no = e.part group by 1 order by 1`,
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

  test('again leaves what a person has changed, and makes a key only when asked', async () => {
    await db.pool.query(`update agent_configs set name = 'Mine'`);
    await db.pool.query(`delete from entities where part in (select no from entity_types where slug = 'order')`);
    expect(JSON.parse(await succeed(['demo']))).toEqual({ organization: 'demo', key: null });
    const { rows } = await db.pool.query(`select distinct name from agent_configs`);
    expect(rows).toEqual([{ name: 'Mine' }]);
    const { key } = JSON.parse(await succeed(['demo', '--new-key']));
    expect(await createApiKeyCheck(db.pool)(key)).toMatchObject({ permissions: new Set(['*']) });
  });
});

describe('push', () => {
  let server: Server;
  let env: Record<string, string>;

  beforeAll(async () => {
    server = createServer(syncService()).listen(0, '127.0.0.1');
    await new Promise((listening) => server.once('listening', listening));
    await db.pool.query(
      `insert into organizations (id, slug, name, updated_at) values ('org_push', 'push', 'P', now())`,
    );
    const { key } = await createApiKey(db.pool, {
      organizationId: 'org_push',
      environment: 'development',
      name: 'push',
      permissions: ['sync'],
    });
    env = { PARLEY_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, PARLEY_API_KEY: key };
  });
  afterAll(() => server.close());

  function syncService() {
    const knownTools = ['entity.query', 'entity.get'];
    const permission = 'sync' as const;
    const push = route(
      { method: 'post', path: '/v1/sync', permission, body: syncBodySchema, response: syncResultSchema },
      async ({ body }, { scope }) => {
        const pushed = await pushResources(db, scope, { ...body, knownTools });
        if (pushed.ok) return pushed.result;
        throw badRequest('The definitions have problems', pushed.reason === 'invalid' ? pushed.problems : undefined);
      },
    );
    const pull = route(
      { method: 'post', path: '/v1/sync/pull', permission, body: z.object({}), response: syncPullSchema },
      (_, { scope }) => pullResources(db, scope),
    );
    const checkKey = createApiKeyCheck(db.pool);
    return createApp({ routes: [push, pull], checkKey, log: silentLogger(), checkResponses: true });
  }

  /** Writes a project; a file that is null is removed. */
  function project(files: Record<string, string | null>): string {
    for (const [name, content] of Object.entries(files)) {
      const path = join(folder, 'project', name);
      mkdirSync(dirname(path), { recursive: true });
      if (content === null) rmSync(path);
      else writeFileSync(path, content);
    }
    return 'project';
  }

  const agent = (name: string, more = '') => `
    import { defineAgent } from '@parley/definitions';
    import prompt from '../prompts/helper.md';
    import type { Unused } from './nowhere';
    const tools: string[] = ['entity.query', 'shop.refund'];
    export default defineAgent({ slug: 'helper', name: '${name}', systemPrompt: prompt, tools, roles: ['clerk'] ${more} });`;

  const files = {
    'prompts/helper.md': 'You help.\n',
    'agents/helper.ts': agent('Helper'),
    'entity-types/order.json': JSON.stringify({ slug: 'order', name: 'Order', schema: { total: 'number' } }),
    'roles/clerk.js': `export default { slug: 'clerk', name: 'Clerk',
      policies: [{ resource: 'order', actions: ['read'], effect: 'allow' }] };`,
    'tools/shop.ts': `
      import { defineTools } from '@parley/definitions';
      export const tools = defineTools([
        { name: 'shop.refund', description: 'Refunds', parameters: { type: 'object' },
          async handler({ total }: { total: number }) { return total * 2; } },
      ]);`,
    'routers/front.ts': `
      import { defineRouter } from '@parley/definitions';
      export const helperOfThisFile = { not: 'a definition' };
      export const front = defineRouter({
        slug: 'front', name: 'Front', mode: 'classify', agents: ['helper'], fallback: 'helper' });`,
    'triggers/paid.ts': `
      import { defineTrigger } from '@parley/definitions';
      export default defineTrigger({ slug: 'paid', name: 'Paid',
        on: { entityType: 'order', action: 'updated' }, actions: [{ tool: 'shop.refund', args: { total: 1 } }] });`,
  };

  test('with --dry-run says what it would do, and does nothing', async () => {
    const run = await parley(['push', project(files), '--dry-run'], { env });
    expect(run).toMatchObject({ code: 0 });
    expect(run.stderr).toBe('Dry run: 6 created; development is at version 0.\n');
    expect(run.stdout.split('\n')).toEqual(
      expect.arrayContaining(['entity-types', '  + order', 'tools', '  + shop.refund']),
    );
    expect((await pullResources(db, { organizationId: 'org_push', environment: 'development' })).version).toBe(0);
  });

  test('loads TypeScript, JavaScript and JSON of every kind', async () => {
    const run = await parley(['push', 'project'], { env });
    expect(run.stderr).toBe('Pushed: 6 created; development is at version 1.\n');
    const { resources } = await pullResources(db, { organizationId: 'org_push', environment: 'development' });
    expect(resources.agents[0]).toMatchObject({ systemPrompt: 'You help.\n', roles: ['clerk'] });
    expect(resources.tools[0]!.handlerCode).toContain('total * 2');
    expect((await parley(['push', 'project'], { env })).stderr).toContain('Pushed: nothing to change;');
  });

  test('shows which fields differ, and deletes only with --prune', async () => {
    project({ 'agents/helper.ts': agent('Friend'), 'routers/front.ts': null });
    const kept = await parley(['push', 'project'], { env });
    expect(kept.stdout).toContain('agents\n  ~ helper  name\n');
    expect(kept.stdout).not.toContain('front');
    const pruned = JSON.parse(await succeed(['push', 'project', '--prune', '--json'], { env }));
    expect(pruned.results.routers).toMatchObject({ deleted: ['front'] });
  });

  test('names the file and field of every problem, before anything is sent', async () => {
    project({
      'agents/bad.ts': `import { defineAgent } from '@parley/definitions';
        export default defineAgent({ slug: 'bad', name: 'Bad', sytemPrompt: 'x' } as never);`,
      'agents/syntax.ts': 'export default {\n  slug: ;\n};',
      'roles/empty.ts': 'export const nothing = 1;',
      'triggers/agent.ts': `import { defineAgent } from '@parley/definitions';
        export default defineAgent({ slug: 'lost', name: 'Lost', systemPrompt: 'x' });`,
      'entity-types/broken.json': '{ "slug": ',
    });
    const { code, stdout, stderr } = await parley(['push', 'project'], {
      env: { ...env, PARLEY_URL: 'http://127.0.0.1:1' },
    });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.trim().split('\n')).toEqual([
      'error: the definitions have problems:',
      expect.stringMatching(/^ {2}entity-types\/broken\.json: is not JSON: /),
      '  roles/empty.ts: exports no definition of a role',
      '  agents/bad.ts: bad: systemPrompt is required',
      '  agents/bad.ts: bad: sytemPrompt is not a field of this definition',
      expect.stringMatching(/^ {2}agents\/syntax\.ts: line 2: /),
      '  triggers/agent.ts: defines an agent, which belongs into agents/',
    ]);
    project(
      Object.fromEntries(
        ['agents/bad.ts', 'agents/syntax.ts', 'roles/empty.ts', 'triggers/agent.ts', 'entity-types/broken.json'].map(
          (name) => [name, null],
        ),
      ),
    );
  });

  test('names the file of what the server refuses', async () => {
    project({ 'agents/other.ts': agent('Other', ", slug: 'other', tools: ['entity.query', 'nope']") });
    const { code, stderr } = await parley(['push', 'project'], { env });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: The definitions have problems \(bad_request, request [\w-]+\):\n/);
    expect(stderr).toContain('\n  agents/other.ts: other: tools.1 unknown tool "nope"\n');
    project({ 'agents/other.ts': null });
  });

  test('says why it could not be sent', async () => {
    const refused = await parley(['push', 'project'], { env: { ...env, PARLEY_API_KEY: 'sk_dev_wrong' } });
    expect(refused.stderr).toMatch(/^error: Unauthorized \(unauthorized, request [\w-]+\)\n$/);
    const dead = await parley(['push', 'project'], { env: { ...env, PARLEY_URL: 'http://127.0.0.1:2' } });
    expect(dead).toMatchObject({
      code: 1,
      stderr: 'error: http://127.0.0.1:2 does not answer: connect ECONNREFUSED 127.0.0.1:2\n',
    });
    expect(await parley(['push', 'nowhere'], { env })).toMatchObject({ code: 2 });
    expect((await parley(['push', '.'], { env })).stderr).toContain('has none of the folders');
  });
});
