import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import type { Environment, Permission, Scope } from '@parley/contracts';
import { createDb, type Db } from '@parley/db';
import { createApiKey } from '@parley/identity';
import { createEntities } from '@parley/entities';
import { pullResources } from '@parley/resources';
import { silentLogger } from '@parley/service';
import { openTestDatabase, seedOrganization, until } from '@parley/testing';
import { createDataApp } from '../../data/src/app';
import { type Cli, buildCli } from './cli-under-test';

/** Tests start processes, which takes time on a busy machine. */
jest.setTimeout(60_000);

let db: Db;
let cli: Cli;
let server: Server;
let scope: Scope;
let env: Record<string, string>;

beforeAll(async () => {
  cli = buildCli();
  db = await openTestDatabase(createDb);
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
  ({ scope } = await seedOrganization(db.pool));
  env = {
    PARLEY_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    PARLEY_API_KEY: await key('development'),
    PARLEY_PRODUCTION_API_KEY: await key('production'),
  };
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await db.close();
  cli.remove();
});

async function key(environment: Environment, permissions: Permission[] = ['*']): Promise<string> {
  return (await createApiKey(db, { tenant: scope.tenant, environment, name: 'test', permissions })).key;
}
const pull = async (environment: Environment) => pullResources(db, { ...scope, environment });
const run = (args: string[], more: Record<string, string> = {}) => cli.parley(args, { env: { ...env, ...more } });
const json = async (args: string[]) => JSON.parse(await cli.succeed([...args, '--json'], { env }));

function write(folder: string, files: Record<string, string>): void {
  for (const [name, content] of Object.entries(files)) {
    const path = join(cli.folder, folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
}

const agent = (name: string, prompt = 'Line one\nLine two\nLine three\n') => `
  import { defineAgent } from '@parley/definitions';
  export default defineAgent({ slug: 'helper', name: '${name}', systemPrompt: ${JSON.stringify(prompt)} });`;
const product = `import { defineData } from '@parley/definitions';
  export default defineData({ slug: 'product', name: 'Product', schema: { name: 'string', price: 'number' }, searchFields: ['name'] });`;
const base = { 'agents/helper.ts': agent('Helper'), 'entity-types/product.ts': product };

test('diff shows changed fields and lines, and --exit-code sets the status', async () => {
  write('shop', base);
  const fresh = await run(['diff', 'shop', '--exit-code']);
  expect(fresh).toMatchObject({ code: 3, stdout: expect.stringContaining('  + helper') });
  expect((await pull('development')).version).toBe(0);
  await cli.succeed(['push', 'shop'], { env });
  expect(await run(['diff', 'shop', '--exit-code'])).toMatchObject({ code: 0 });

  write('shop', { 'agents/helper.ts': agent('Friend', 'Line one\nLine 2\nLine three\n') });
  const { code, stdout } = await run(['diff', 'shop']);
  expect(code).toBe(0);
  expect(stdout).toContain('      name: "Helper" → "Friend"');
  expect(stdout).toContain('        - Line two\n        + Line 2\n');
  const { changes } = await json(['diff', 'shop']);
  expect(changes).toMatchObject([
    { kind: 'agents', slug: 'helper', action: 'updated', fields: [{ path: 'name' }, {}] },
  ]);
});

test('status shows the environment and whether the folder differs', async () => {
  const { stdout } = await run(['status', 'shop']);
  expect(stdout).toContain('development');
  expect(stdout).toContain('1 differ');
  expect(await json(['status', '.'])).toMatchObject({ environment: 'development', counts: { agents: 1 }, local: null });
});

test('definitions that --prune cannot delete are listed with the reason', async () => {
  const pushed = await run(['push', 'shop']);
  expect(pushed.code).toBe(0);
  const entities = createEntities({ db });
  const made = await entities.create(scope, { type: 'product', data: { name: 'Tent' }, actor: { type: 'system' } });
  expect(made.ok).toBe(true);
  write('less', {
    'agents/friend.ts': agent('Friend').replace("'helper'", "'friend'"),
    'entity-types/order.json': JSON.stringify({ slug: 'order', name: 'Order', schema: {} }),
  });
  const refused = 'entity-types product (still has 1 entity)';
  for (const args of [
    ['diff', 'less'],
    ['push', 'less', '--dry-run'],
  ]) {
    const { stderr } = await run(args);
    expect(stderr).toContain('Not in the folder, and kept: agents helper. --prune deletes them.\n');
    expect(stderr).toContain(`Not in the folder, and --prune cannot delete: ${refused}.\n`);
  }
  const { stdout } = await run(['status', 'less']);
  expect(stdout).toContain(
    `1 only in the environment, 1 only in the environment and not deletable with --prune: ${refused}`,
  );
  await db.pool.query(`delete from entities`);
});

test('errors of shape and of references are reported together, each with its file', async () => {
  write('wrong', {
    'agents/a.ts': `import { defineAgent } from '@parley/definitions';
      export default defineAgent({ slug: 'a', name: 'A', sytemPrompt: 'x' } as never);`,
    'agents/b.ts': agent('B').replace("'B'", "'B', tools: ['nope']"),
  });
  const { code, stderr } = await run(['push', 'wrong']);
  expect(code).toBe(1);
  expect(stderr).toContain('\n  agents/a.ts: a: systemPrompt is required');
  expect(stderr).toContain('\n  agents/a.ts: a: sytemPrompt is not a field of this definition');
  expect(stderr).toContain('\n  agents/b.ts: helper: tools.0 unknown tool "nope"');
  const asJson = await run(['push', 'wrong', '--json']);
  expect(JSON.parse(asJson.stderr)).toMatchObject({ code: 'invalid_definitions', problems: expect.any(Array) });
});

test('deploy pushes to production, and requires --yes without a terminal', async () => {
  const asked = await run(['deploy', 'shop']);
  expect(asked).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
  expect((await pull('production')).version).toBe(0);
  const deployed = await run(['deploy', 'shop', '--yes']);
  expect(deployed).toMatchObject({ code: 0, stderr: 'Deployed: 2 created; production is at version 1.\n' });
  expect((await run(['deploy', 'shop', '--yes'])).stderr).toBe('Nothing to change; production is at version 1.\n');
  const wrongKey = await run(['deploy', 'shop', '--yes'], { PARLEY_PRODUCTION_API_KEY: '' });
  expect(wrongKey.stderr).toContain('PARLEY_PRODUCTION_API_KEY is not set');
  const ofDevelopment = await run(['deploy', 'shop', '--yes'], { PARLEY_PRODUCTION_API_KEY: env.PARLEY_API_KEY! });
  expect(ofDevelopment).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('PARLEY_PRODUCTION_API_KEY is a key for development'),
  });
});

test('pull writes missing definitions and keeps files that differ, and a push of the result changes nothing', async () => {
  const prompt = 'With `ticks`, ${braces}, back\\slash and\r\nreturns\n\u2028';
  write('rich', {
    'agents/helper.ts': agent('Helper', prompt),
    'entity-types/product.ts': product,
    'roles/clerk.json': JSON.stringify({
      slug: 'clerk',
      name: "It's",
      policies: [{ resource: 'product', actions: ['read'], effect: 'allow' }],
      scopeRules: [
        { entityType: 'product', field: 'data.name', operator: 'eq', value: { __proto__: 1, 'a b': [null] } },
      ],
    }),
    'tools/shop.ts': `import { defineTools } from '@parley/definitions';
      export default defineTools([{ name: 'shop.one', description: 'One', parameters: { type: 'object' }, handler() { return \`\${1}\\n\`; } }]);`,
  });
  await cli.succeed(['push', 'rich', '--prune'], { env });
  const before = await pull('development');
  expect((await run(['pull', 'copy'])).stderr).toBe(
    `Pulled development at version ${before.version}: 4 written, 0 unchanged.\n`,
  );
  expect(readFileSync(join(cli.folder, 'copy/tools/shop.one.ts'), 'utf8')).toContain('defineTools([');
  const pushed = await run(['push', 'copy', '--prune']);
  expect(pushed.stderr).toContain('Pushed: nothing to change;');
  expect(await pull('development')).toEqual(before);
  expect((await run(['pull', 'copy'])).stderr).toContain('0 written, 4 unchanged');

  write('copy', { 'agents/helper.ts': agent('Mine') });
  expect(await run(['pull', 'copy'])).toMatchObject({
    code: 1,
    stdout: '  ! agents/helper.ts: helper was not written: the file has another version\n',
  });
  expect((await run(['pull', 'copy', '--force'])).code).toBe(0);
  expect((await run(['push', 'copy'])).stderr).toContain('nothing to change');
});

test('dev pushes every change, and keeps running after an error', async () => {
  write('live', { ...base, 'prompts/p.md': 'Hello\n' });
  const child = spawn(process.execPath, [cli.bundle, 'dev', 'live'], {
    cwd: cli.folder,
    env: { PATH: process.env.PATH, ...env },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const says = async (text: string) => {
    await until(() => output, { isThere: (said) => said.includes(text) || child.exitCode !== null, everyMs: 20 });
    if (!output.includes(text)) throw new Error(`dev ended with ${child.exitCode}:\n${output}`);
    output = '';
  };
  try {
    await says('is at version');
    write('live', { 'agents/helper.ts': 'export default {{{' });
    await says('agents/helper.ts: line 1');
    write('live', { 'agents/helper.ts': agent('Again').replace("'Again'", "'Again', tools: ['nope']") });
    await says('unknown tool "nope"');
    write('live', { 'agents/helper.ts': agent('Again') });
    await says('"Again"');
    // New files are pushed too.
    write('live', { 'agents/other.ts': agent('Other').replace("'helper'", "'other'") });
    await says('+ other');
  } finally {
    child.kill('SIGINT');
  }
  const code = await new Promise((ended) => child.once('exit', ended));
  expect(code).toBe(0);
  expect((await pull('development')).resources.agents.map(({ slug }) => slug).sort()).toEqual(['helper', 'other']);
});

test('dev refuses a production key', async () => {
  const { code, stderr } = await run(['dev', 'shop'], { PARLEY_API_KEY: env.PARLEY_PRODUCTION_API_KEY! });
  expect([code, stderr]).toEqual([
    1,
    'error: dev pushes to development, but PARLEY_API_KEY is a production key. Set a development key\n',
  ]);
});

describe('data', () => {
  const entityOf = async (args: string[]) => json(['data', ...args]);

  test('entities are created, read, updated, found and deleted', async () => {
    await cli.succeed(['push', 'shop'], { env });
    const made = await entityOf(['create', 'product', '{"name":"Lamp","price":12}']);
    expect(made).toMatchObject({ type: 'product', status: 'active', data: { name: 'Lamp' } });
    expect(await entityOf(['update', 'product', made.id, '{"price":10}', '--status', 'draft'])).toMatchObject({
      data: { name: 'Lamp', price: 10 },
      status: 'draft',
    });
    expect((await run(['data', 'get', 'product', made.id])).stdout).toContain('Lamp');
    expect((await run(['data', 'list', 'product'])).stdout).toMatch(/ID .* name/);
    const found = await entityOf(['query', 'product', '{"data.price":{"$lt":11}}', '--sort', 'data.price:asc']);
    expect(found.data).toHaveLength(1);
    expect((await entityOf(['search', 'product', 'lam'])).data).toHaveLength(1);
    expect(await entityOf(['delete', 'product', made.id])).toEqual({ success: true });
    expect(await run(['data', 'get', 'product', made.id])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^error: Entity has been deleted \(entity_deleted, request /),
    });
    const asJson = await run(['data', 'get', 'product', made.id, '--json']);
    expect(JSON.parse(asJson.stderr)).toMatchObject({
      error: 'Entity has been deleted',
      code: 'entity_deleted',
      requestId: expect.any(String),
    });
    expect(await run(['data', 'create', 'product', '[1]'])).toMatchObject({ code: 2 });
  });

  test('an interrupted import is resumed and creates no row twice', async () => {
    const rows = Array.from({ length: 12 }, (_, at) => `Item ${at},${at}`);
    write('.', { 'items.csv': ['name,price', ...rows.slice(0, 7), 'Bad,1', ...rows.slice(7)].join('\n') });
    write('typed', {
      'entity-types/product.ts': product.replace(
        "name: 'string'",
        "name: { type: 'string', enum: ['Lamp', ...Array.from({ length: 12 }, (_, at) => 'Item ' + at)] }",
      ),
    });
    await cli.succeed(['push', 'typed'], { env });
    const stopped = await run(['data', 'import', 'product', 'items.csv']);
    expect(stopped).toMatchObject({ code: 1, stderr: expect.stringContaining('row 8: ') });
    write('.', { 'items.csv': ['name,price', ...rows].join('\n') });
    const resumed = await run(['data', 'import', 'product', 'items.csv']);
    expect([resumed.code, resumed.stderr]).toEqual([0, expect.stringMatching(/^Resuming at row \d+ of 12\./)]);
    const { data } = await entityOf(['query', 'product', '{"data.name":{"$ne":"Lamp"}}', '--limit', '100']);
    expect(data.map((one: { data: { name: string } }) => one.data.name).sort()).toEqual(
      rows.map((row) => row.split(',')[0]).sort(),
    );
    expect((await run(['data', 'import', 'product', 'items.csv'])).stderr).toContain('was already imported');
    write('.', { 'items.csv': ['name,price', 'Item 1,7', ...rows.slice(1)].join('\n') });
    expect((await run(['data', 'import', 'product', 'items.csv'])).stderr).toContain(
      'have changed after they were imported',
    );
  });

  test('an import accepts the file of an export, which is not overwritten', async () => {
    const printed = await cli.succeed(['data', 'export', 'product'], { env });
    expect(printed.split('\n')).toHaveLength(12);
    expect(await json(['data', 'export', 'product', '--out', 'out.csv'])).toMatchObject({ exported: 12 });
    expect(readFileSync(join(cli.folder, 'out.csv'), 'utf8').split('\n')[0]).toBe(
      'id,status,createdAt,updatedAt,data.name,data.price,data',
    );
    expect(readdirSync(cli.folder).filter((name) => name.includes('.parley-export'))).toEqual([]);
    expect((await run(['data', 'export', 'product', '--out', 'out.csv'])).stderr).toContain('out.csv already exists');
    expect((await json(['data', 'import', 'product', 'out.csv'])).imported).toBe(12);
    rmSync(join(cli.folder, 'out.csv'));
    expect(existsSync(join(cli.folder, 'out.csv.parley-import'))).toBe(true);
  });

  test.each(['none.csv', 'none.jsonl'])('a type without entities can be exported and imported: %s', async (file) => {
    const nothing = { slug: 'nothing', name: 'Nothing', schema: { name: 'string' } };
    write('bare', { 'entity-types/nothing.json': JSON.stringify(nothing) });
    await cli.succeed(['push', 'bare'], { env });
    expect(await json(['data', 'export', 'nothing', '--out', file])).toMatchObject({ exported: 0 });
    for (const _again of [1, 2])
      expect(await json(['data', 'import', 'nothing', file])).toEqual({ type: 'nothing', imported: 0, total: 0 });
  });

  test('nothing is imported from a file with rows that cannot be read', async () => {
    write('.', { 'bad.csv': 'name,price\nA,1\nB,cheap\n' });
    const { code, stderr } = await run(['data', 'import', 'product', 'bad.csv']);
    expect([code, stderr]).toEqual([
      1,
      'error: bad.csv has errors. Nothing was imported:\n  row 3: price must be a number: cheap\n',
    ]);
    write('.', { 'mixed.csv': 'name,price,data.x\nA,1,2\n', 'empty.csv': '\n' });
    writeFileSync(join(cli.folder, 'latin.csv'), Buffer.from('name\nCaf\xe9\n', 'latin1'));
    for (const [file, problem] of [
      ['mixed.csv', 'name, price would not be imported'],
      ['empty.csv', 'empty.csv is empty'],
      ['latin.csv', 'latin.csv is not UTF-8'],
    ] as const) {
      const refused = await run(['data', 'import', 'product', file]);
      expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(problem) });
    }
  });
});
