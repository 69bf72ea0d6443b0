import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import type { Scope } from '@parley/contracts';
import { createDb, type Db } from '@parley/db';
import { createEntities } from '@parley/entities';
import { pullResources } from '@parley/resources';
import { silentLogger } from '@parley/service';
import { openTestDatabase, seedOrganization } from '@parley/testing';
import { createDataApp } from '../../data/src/app';
import { type Cli, openCli } from './testing/run-command';

let db: Db;
let cli: Cli;

beforeAll(async () => {
  cli = openCli();
  db = await openTestDatabase(createDb);
});
afterAll(async () => {
  await db.close();
  cli.remove();
});

describe('push', () => {
  let server: Server;
  let scope: Scope;
  let env: Record<string, string>;

  beforeAll(async () => {
    server = createServer(
      createDataApp({
        db,
        entities: createEntities({ db }),
        log: silentLogger(),
        checkResponses: true,
        requestReindexing: () => {},
      }),
    ).listen(0, '127.0.0.1');
    await new Promise((listening) => server.once('listening', listening));
    const seeded = await seedOrganization(db.pool, { permissions: ['sync'] });
    scope = seeded.scope;
    env = {
      PARLEY_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      PARLEY_API_KEY: seeded.key,
    };
  });
  afterAll(() => server.close());

  /** Writes a project. A null value deletes the file. */
  function project(files: Record<string, string | null>): string {
    for (const [name, content] of Object.entries(files)) {
      const path = join(cli.folder, 'project', name);
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
    'entity-types/order.json': JSON.stringify({
      slug: 'order',
      name: 'Order',
      schema: { total: 'number' },
    }),
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

  test('--dry-run shows the changes and makes none', async () => {
    const run = await cli.parley(['push', project(files), '--dry-run'], { env });
    expect(run).toMatchObject({ exitCode: 0 });
    expect(run.stderr).toBe('Dry run: would create 6; development is at version 0.\n');
    expect(run.stdout.split('\n')).toEqual(
      expect.arrayContaining(['entity-types', '  + order', 'tools', '  + shop.refund']),
    );
    expect((await pullResources(db, scope)).version).toBe(0);
  });

  test('loads TypeScript, JavaScript and JSON of every kind', async () => {
    const run = await cli.parley(['push', 'project'], { env });
    expect(run.stderr).toBe('Pushed: 6 created; development is at version 1.\n');
    const { resources } = await pullResources(db, scope);
    expect(resources.agents[0]).toMatchObject({ systemPrompt: 'You help.\n', roles: ['clerk'] });
    expect(resources.tools[0]!.handlerCode).toContain('total * 2');
    expect((await cli.parley(['push', 'project'], { env })).stderr).toContain(
      'Pushed: nothing to change;',
    );
  });

  test('shows which fields differ, and deletes only with --prune', async () => {
    project({ 'agents/helper.ts': agent('Friend'), 'routers/front.ts': null });
    const kept = await cli.parley(['push', 'project'], { env });
    expect(kept.stdout).toContain('agents\n  ~ helper  name\n');
    expect(kept.stdout).not.toContain('front');
    const pruned = JSON.parse(await cli.succeed(['push', 'project', '--prune', '--json'], { env }));
    expect(pruned.results.routers).toMatchObject({ deleted: ['front'] });
  });

  test('reports the file and field of every error, and of unknown references that are certain', async () => {
    project({
      'agents/bad.ts': `import { defineAgent } from '@parley/definitions';
        export default defineAgent({ slug: 'bad', name: 'Bad', sytemPrompt: 'x' } as never);`,
      'agents/syntax.ts': 'export default {\n  slug: ;\n};',
      'roles/empty.ts': 'export const nothing = 1;',
      'triggers/agent.ts': `import { defineAgent } from '@parley/definitions';
        export default defineAgent({ slug: 'lost', name: 'Lost', systemPrompt: 'x' });`,
      'entity-types/broken.json': '{ "slug": ',
    });
    const { exitCode, stdout, stderr } = await cli.parley(['push', 'project'], {
      env: { ...env, PARLEY_URL: 'http://127.0.0.1:1' },
    });
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    const problems = [
      'error: The definitions have problems:',
      expect.stringMatching(/^ {2}entity-types\/broken\.json: is not JSON: /),
      '  roles/empty.ts: does not export a role',
      '  agents/bad.ts: bad: systemPrompt is required',
      '  agents/bad.ts: bad: sytemPrompt is not a known field',
      expect.stringMatching(/^ {2}agents\/syntax\.ts: line 2: /),
      '  triggers/agent.ts: defines an agent. Move it to agents/',
    ];
    expect(stderr.trim().split('\n')).toEqual([
      ...problems,
      'References are checked once these problems are fixed.',
    ]);
    // References to kinds that the unreadable files may define are not reported as unknown.
    project({
      'routers/other.ts': `import { defineRouter } from '@parley/definitions';
        export default defineRouter({ slug: 'other', name: 'Other', mode: 'classify', agents: ['syntax'], fallback: 'helper' });`,
      'triggers/due.ts': `import { defineTrigger } from '@parley/definitions';
        export default defineTrigger({ slug: 'due', name: 'Due', on: { entityType: 'broken', action: 'created' },
          actions: [{ tool: 'entity.qurey', args: {} }] });`,
    });
    const asked = await cli.parley(['push', 'project'], { env });
    expect(asked.stderr.trim().split('\n')).toEqual([
      ...problems,
      '  triggers/due.ts: due: actions.0.tool unknown tool "entity.qurey"',
      'References to entity-types, roles, agents are checked once these problems are fixed.',
    ]);
    project({ 'routers/other.ts': null, 'triggers/due.ts': null });
    project(
      Object.fromEntries(
        [
          'agents/bad.ts',
          'agents/syntax.ts',
          'roles/empty.ts',
          'triggers/agent.ts',
          'entity-types/broken.json',
        ].map((name) => [name, null]),
      ),
    );
  });

  test('reports the file of a definition that the server refuses', async () => {
    const reads = `{ name: 'x.reads', description: 'x', parameters: { type: 'object' }, handler: () => hostname() }`;
    project({
      'agents/other.ts': agent('Other', ", slug: 'other', tools: ['entity.query', 'nope']"),
      'tools/reads.ts': `import { hostname } from 'node:os';\nimport { defineTools } from '@parley/definitions';\nexport default defineTools([${reads}]);\n`,
    });
    const { exitCode, stderr } = await cli.parley(['push', 'project'], { env });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /^error: The definitions have problems \(invalid_definitions, request [\w-]+\):\n/,
    );
    expect(stderr).toContain('\n  agents/other.ts: other: tools.1 unknown tool "nope"\n');
    // A problem that only the command line can see is reported with those of the server.
    expect(stderr).toContain(
      '\n  tools/reads.ts: x.reads: the handler cannot be bundled with its imports: ',
    );
    project({ 'agents/other.ts': null, 'tools/reads.ts': null });
  });

  test('warns about search fields that the schema does not declare, and pushes them', async () => {
    const thing = { slug: 'thing', name: 'Thing', schema: { name: 'string', place: 'object' } };
    const searchFields = ['name', 'place.city', 'naem'];
    project({ 'entity-types/thing.json': JSON.stringify({ ...thing, searchFields }) });
    const { exitCode, stderr } = await cli.parley(['push', 'project', '--dry-run'], { env });
    expect({ exitCode, lines: stderr.split('\n').slice(0, 2) }).toEqual({
      exitCode: 0,
      lines: [
        'warning: entity-types/thing.json: thing: searchFields names naem, which the schema does not declare',
        expect.stringMatching(/^Dry run: would create 1[,;]/),
      ],
    });
    project({ 'entity-types/thing.json': null });
  });

  test('reports why a push failed', async () => {
    const refused = await cli.parley(['push', 'project'], {
      env: { ...env, PARLEY_API_KEY: 'sk_dev_wrong' },
    });
    expect(refused.stderr).toMatch(/^error: Unauthorized \(unknown_key, request [\w-]+\)\n$/);
    const dead = await cli.parley(['push', 'project'], {
      env: { ...env, PARLEY_URL: 'http://127.0.0.1:2' },
    });
    expect(dead).toMatchObject({
      exitCode: 1,
      stderr: 'error: Cannot connect to http://127.0.0.1:2: connect ECONNREFUSED 127.0.0.1:2\n',
    });
    expect(await cli.parley(['push', 'nowhere'], { env })).toMatchObject({ exitCode: 2 });
    expect((await cli.parley(['push', '.'], { env })).stderr).toContain('. has no definitions');
  });
});
