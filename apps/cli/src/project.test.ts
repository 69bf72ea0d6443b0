import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import type { Environment, Permission, Scope } from '@parley/contracts';
import { createDb, type Db } from '@parley/db';
import { createApiKey } from '@parley/identity';
import { createEntities, ensureType } from '@parley/entities';
import { pullResources } from '@parley/resources';
import { silentLogger } from '@parley/service';
import { openTestDatabase, seedOrganization, until } from '@parley/testing';
import { createDataApp } from '../../data/src/app';
import { bundle } from './testing/built-command';
import { type Cli, openCli } from './testing/run-command';

let db: Db;
let cli: Cli;
let server: Server;
let scope: Scope;
let env: Record<string, string>;

beforeAll(async () => {
  cli = openCli();
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
  return (await createApiKey(db, { tenant: scope.tenant, environment, name: 'test', permissions }))
    .key;
}
const pull = async (environment: Environment) => pullResources(db, { ...scope, environment });
const run = (args: string[], more: Record<string, string> = {}) =>
  cli.parley(args, { env: { ...env, ...more } });
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
  expect(fresh).toMatchObject({ exitCode: 3, stdout: expect.stringContaining('  + helper') });
  expect((await pull('development')).version).toBe(0);
  await cli.succeed(['push', 'shop'], { env });
  expect(await run(['diff', 'shop', '--exit-code'])).toMatchObject({ exitCode: 0 });

  write('shop', { 'agents/helper.ts': agent('Friend', 'Line one\nLine 2\nLine three\n') });
  const { exitCode, stdout } = await run(['diff', 'shop']);
  expect(exitCode).toBe(0);
  expect(stdout).toContain('      name: "Helper" → "Friend"');
  expect(stdout).toContain('        - Line two\n        + Line 2\n');
  const { changes } = await json(['diff', 'shop']);
  expect(changes).toMatchObject([
    { kind: 'agents', slug: 'helper', action: 'updated', fields: [{ path: 'name' }, {}] },
  ]);
});

test('status shows the environment and whether the folder differs', async () => {
  const { stdout } = await run(['status', 'shop']);
  expect(stdout).toMatch(
    /^address +http.*\norganization +org-\S+ \(Organization .*\)\nenvironment +development\n/,
  );
  expect(stdout).toContain('1 differ');
  expect(await json(['status', '.'])).toMatchObject({
    organization: { slug: expect.stringMatching(/./) },
    environment: 'development',
    counts: { agents: 1 },
    agents: [{ id: expect.stringMatching(/^agent_/), slug: 'helper', name: 'Helper' }],
    local: null,
  });
});

test('definitions that --prune cannot delete are listed with the reason', async () => {
  const pushed = await run(['push', 'shop']);
  expect(pushed.exitCode).toBe(0);
  const entities = createEntities({ db });
  const made = await entities.create(scope, {
    type: 'product',
    data: { name: 'Tent' },
    actor: { type: 'system' },
  });
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

test('types generate writes the types of the environment or of a folder, and --check reports a stale file', async () => {
  write('typed', { ...base, 'package.json': '{}' });
  await cli.succeed(['push', 'typed'], { env });
  const file = join(cli.folder, 'web/parley.d.ts');
  const generate = (...more: string[]) =>
    run(['types', 'generate', '--out', 'web/parley.d.ts', ...more]);
  expect(await generate('--check')).toMatchObject({
    exitCode: 1,
    stderr: 'error: web/parley.d.ts is not up to date. Run parley types generate without --check\n',
  });
  expect(existsSync(file)).toBe(false);
  expect(await generate()).toMatchObject({
    exitCode: 0,
    stderr: expect.stringMatching(/^Written: web.parley.d.ts \(\d+ entity types/),
  });
  expect(readFileSync(file, 'utf8')).toContain(
    '  product: {\n    name?: string | null;\n    price?: number | null;\n  };',
  );
  expect(await generate('--check')).toMatchObject({ exitCode: 0 });

  write('typed', {
    'entity-types/product.ts': product.replace("price: 'number'", "price: 'string'"),
  });
  expect(await generate('--check')).toMatchObject({ exitCode: 0 });
  expect(await generate('--from', 'typed', '--check')).toMatchObject({ exitCode: 1 });
  expect(JSON.parse((await generate('--from', 'typed', '--json')).stdout)).toEqual({
    file: 'web/parley.d.ts',
    changed: true,
    entityTypes: 1,
    tools: 0,
  });
  expect(await run(['types', 'generate', '--from', 'typed', '--out', '-'])).toMatchObject({
    exitCode: 0,
    stdout: readFileSync(file, 'utf8'),
  });

  expect(await run(['types', 'generate', '--out', 'typed/package.json'])).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('exists and was not written by this command'),
  });
  write('typed', { 'entity-types/product.ts': product.replace("name: 'Product'", 'nam: 1') });
  expect(await generate('--from', 'typed')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('entity-types/product.ts: product: name is required'),
  });
  const other = await key('development', ['data']);
  expect(await run(['types', 'generate', '--out', '-'], { PARLEY_API_KEY: other })).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('API key does not have sync permission'),
  });
});

test('tools list and show name built-in and custom tools with their parameters and permissions', async () => {
  write('tooled', {
    'tools/shop.ts': `import { defineTools } from '@parley/definitions';
      export default defineTools([{ name: 'shop.discount', description: 'The discount', handlerCode: 'return 1',
        parameters: { type: 'object', properties: { total: { type: 'number', description: 'In pesos.' } }, required: ['total'] } }]);`,
  });
  await cli.succeed(['push', 'tooled'], { env });
  const { tools } = await json(['tools', 'list']);
  expect(tools).toHaveLength(25);
  expect(tools).toContainEqual(
    expect.objectContaining({ name: 'entity.get', permission: 'read on the entity type of id' }),
  );
  expect(tools).toContainEqual(expect.objectContaining({ name: 'shop.discount', kind: 'custom' }));
  const shown = await run(['tools', 'show', 'shop.discount']);
  expect(shown.stdout).toMatch(/^permission +execute on shop.discount$/m);
  expect(shown.stdout).toMatch(/^total +number +yes +In pesos\.$/m);
  expect(await run(['tools', 'show', 'shop.none'])).toMatchObject({
    exitCode: 1,
    stderr: 'error: There is no tool "shop.none". List the tools with: parley tools list\n',
  });

  const withoutKey = await cli.parley(['tools', 'show', 'entity.query']);
  expect(withoutKey.stdout).toMatch(
    /^sort\.direction +asc or desc +no +Direction of the sort; default "desc"$/m,
  );
  const listed = await cli.parley(['tools', 'list']);
  expect(listed).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining('not listed: PARLEY_URL is not set'),
  });
  expect(listed.stdout).toMatch(
    /^web\.fetch +built-in +execute on web\.fetch +Sends an HTTP request/m,
  );
});

test('the entity type of payments, which Parley creates, is not reported as missing and not deleted', async () => {
  await ensureType(db, scope, { slug: 'payment', name: 'Payment', schema: {}, searchFields: [] });
  await cli.succeed(['push', 'shop'], { env });
  for (const args of [
    ['diff', 'shop'],
    ['diff', 'shop', '--prune'],
    ['status', 'shop'],
    ['push', 'shop', '--prune'],
  ]) {
    const { stdout, stderr } = await run(args);
    expect([args, `${stdout}${stderr}`]).toEqual([
      args,
      expect.not.stringContaining('only in the environment'),
    ]);
    expect(stderr).not.toMatch(/payment|Not in the folder/);
  }
  expect((await pull('development')).resources.entityTypes.map(({ slug }) => slug)).toContain(
    'payment',
  );
  await db.pool.query(`delete from entity_types where slug = 'payment'`);
});

test('errors of shape and of references are reported together, each with its file', async () => {
  write('wrong', {
    'agents/a.ts': `import { defineAgent } from '@parley/definitions';
      export default defineAgent({ slug: 'a', name: 'A', sytemPrompt: 'x' } as never);`,
    'agents/b.ts': agent('B').replace("'B'", "'B', tools: ['nope']"),
  });
  const { exitCode, stderr } = await run(['push', 'wrong']);
  expect(exitCode).toBe(1);
  expect(stderr).toContain('\n  agents/a.ts: a: systemPrompt is required');
  expect(stderr).toContain('\n  agents/a.ts: a: sytemPrompt is not a known field');
  expect(stderr).toContain('\n  agents/b.ts: helper: tools.0 unknown tool "nope"');
  const asJson = await run(['push', 'wrong', '--json']);
  expect(JSON.parse(asJson.stderr)).toMatchObject({
    code: 'invalid_definitions',
    problems: expect.any(Array),
  });
});

test('deploy pushes to production, and requires --yes without a terminal', async () => {
  const asked = await run(['deploy', 'shop']);
  expect(asked).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--yes') });
  expect((await pull('production')).version).toBe(0);
  const deployed = await run(['deploy', 'shop', '--yes']);
  expect(deployed).toMatchObject({
    exitCode: 0,
    stderr: 'Deployed: 2 created; production is at version 1.\n',
  });
  expect((await run(['deploy', 'shop', '--yes'])).stderr).toBe(
    'Nothing to change; production is at version 1.\n',
  );
  const wrongKey = await run(['deploy', 'shop', '--yes'], { PARLEY_PRODUCTION_API_KEY: '' });
  expect(wrongKey.stderr).toContain('PARLEY_PRODUCTION_API_KEY is not set');
  const ofDevelopment = await run(['deploy', 'shop', '--yes'], {
    PARLEY_PRODUCTION_API_KEY: env.PARLEY_API_KEY!,
  });
  expect(ofDevelopment).toMatchObject({
    exitCode: 1,
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
        {
          entityType: 'product',
          field: 'data.name',
          operator: 'eq',
          value: { __proto__: 1, 'a b': [null] },
        },
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
  expect(readFileSync(join(cli.folder, 'copy/tools/shop.one.ts'), 'utf8')).toContain(
    'defineTools([',
  );
  const pushed = await run(['push', 'copy', '--prune']);
  expect(pushed.stderr).toContain('Pushed: nothing to change;');
  expect(await pull('development')).toEqual(before);
  expect((await run(['pull', 'copy'])).stderr).toContain('0 written, 4 unchanged');

  write('copy', { 'agents/helper.ts': agent('Mine') });
  expect(await run(['pull', 'copy'])).toMatchObject({
    exitCode: 1,
    stdout: '  ! agents/helper.ts: helper was not written: the file has another version\n',
  });
  expect((await run(['pull', 'copy', '--force'])).exitCode).toBe(0);
  expect((await run(['push', 'copy'])).stderr).toContain('nothing to change');
});

test('dev pushes every change, and keeps running after an error', async () => {
  write('live', { ...base, 'prompts/p.md': 'Hello\n' });
  await cli.succeed(['types', 'generate', '--from', 'live', '--out', 'live/parley.d.ts'], { env });
  const child = spawn(process.execPath, [bundle, 'dev', 'live'], {
    cwd: cli.folder,
    env: { PATH: process.env.PATH, ...env },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const says = async (text: string) => {
    await until(() => output, {
      isThere: (said) => said.includes(text) || child.exitCode !== null,
      everyMs: 20,
    });
    if (!output.includes(text)) throw new Error(`dev ended with ${child.exitCode}:\n${output}`);
    output = '';
  };
  try {
    await says('is at version');
    write('live', { 'agents/helper.ts': 'export default {{{' });
    await says('agents/helper.ts: line 1');
    write('live', {
      'agents/helper.ts': agent('Again').replace("'Again'", "'Again', tools: ['nope']"),
    });
    await says('unknown tool "nope"');
    write('live', { 'agents/helper.ts': agent('Again') });
    await says('"Again"');
    // New files are pushed too.
    write('live', { 'agents/other.ts': agent('Other').replace("'helper'", "'other'") });
    await says('+ other');
    // The types of the project are written again.
    write('live', {
      'entity-types/product.ts': product.replace("'number'", "'number', weight: 'number'"),
    });
    await says('weight');
    expect(readFileSync(join(cli.folder, 'live/parley.d.ts'), 'utf8')).toContain(
      '    weight?: number | null;\n',
    );
  } finally {
    child.kill('SIGINT');
  }
  const code = await new Promise((ended) => child.once('exit', ended));
  expect(code).toBe(0);
  expect((await pull('development')).resources.agents.map(({ slug }) => slug).sort()).toEqual([
    'helper',
    'other',
  ]);
});

test('dev refuses a production key', async () => {
  const { exitCode, stderr } = await run(['dev', 'shop'], {
    PARLEY_API_KEY: env.PARLEY_PRODUCTION_API_KEY!,
  });
  expect([exitCode, stderr]).toEqual([
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
    expect(
      await entityOf(['update', 'product', made.id, '{"price":10}', '--status', 'draft']),
    ).toMatchObject({
      data: { name: 'Lamp', price: 10 },
      status: 'draft',
    });
    expect((await run(['data', 'get', 'product', made.id])).stdout).toContain('Lamp');
    expect((await run(['data', 'list', 'product'])).stdout).toMatch(/ID .* name/);
    const found = await entityOf([
      'query',
      'product',
      '{"data.price":{"$lt":11}}',
      '--sort',
      'data.price:asc',
    ]);
    expect(found.data).toHaveLength(1);
    expect((await entityOf(['search', 'product', 'lam'])).data).toHaveLength(1);
    expect(await entityOf(['delete', 'product', made.id])).toEqual({ success: true });
    expect(await run(['data', 'get', 'product', made.id])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/^error: Entity has been deleted \(entity_deleted, request /),
    });
    const asJson = await run(['data', 'get', 'product', made.id, '--json']);
    expect(JSON.parse(asJson.stderr)).toMatchObject({
      error: 'Entity has been deleted',
      code: 'entity_deleted',
      requestId: expect.any(String),
    });
    expect(await run(['data', 'create', 'product', '[1]'])).toMatchObject({ exitCode: 2 });
  });

  test('an interrupted import is resumed and creates no row twice', async () => {
    const rows = Array.from({ length: 12 }, (_, at) => `Item ${at},${at}`);
    write('.', {
      'items.csv': ['name,price', ...rows.slice(0, 7), 'Bad,1', ...rows.slice(7)].join('\n'),
    });
    write('typed', {
      'entity-types/product.ts': product.replace(
        "name: 'string'",
        "name: { type: 'string', enum: ['Lamp', ...Array.from({ length: 12 }, (_, at) => 'Item ' + at)] }",
      ),
    });
    await cli.succeed(['push', 'typed'], { env });
    const stopped = await run(['data', 'import', 'product', 'items.csv']);
    expect(stopped).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('row 8: ') });
    write('.', { 'items.csv': ['name,price', ...rows].join('\n') });
    const resumed = await run(['data', 'import', 'product', 'items.csv']);
    expect([resumed.exitCode, resumed.stderr]).toEqual([
      0,
      expect.stringMatching(/^Resuming at row \d+ of 12\./),
    ]);
    const { data } = await entityOf([
      'query',
      'product',
      '{"data.name":{"$ne":"Lamp"}}',
      '--limit',
      '100',
    ]);
    expect(data.map((one: { data: { name: string } }) => one.data.name).sort()).toEqual(
      rows.map((row) => row.split(',')[0]).sort(),
    );
    expect((await run(['data', 'import', 'product', 'items.csv'])).stderr).toContain(
      'was already imported',
    );
    write('.', { 'items.csv': ['name,price', 'Item 1,7', ...rows.slice(1)].join('\n') });
    expect((await run(['data', 'import', 'product', 'items.csv'])).stderr).toContain(
      'have changed after they were imported',
    );
  });

  test('an import whose answer was lost is repeated without effect, and refused when its rows have changed', async () => {
    const namesIn = async () =>
      (await entityOf(['query', 'product', '{"data.name":{"$in":["Item 3","Item 4"]}}'])).data
        .length as number;
    const before = await namesIn();
    write('.', { 'lost.csv': 'name,price\nItem 3,1\nItem 4,1\n' });
    await cli.succeed(['data', 'import', 'product', 'lost.csv'], { env });
    expect(await namesIn()).toBe(before + 2);

    const file = join(cli.folder, 'lost.csv.parley-import');
    const states = JSON.parse(readFileSync(file, 'utf8')) as Record<string, { hash: string }>;
    const [target, { hash, ...state }] = Object.entries(states)[0]!;
    expect(target).toMatch(/^http:\/\/127\.0\.0\.1:\d+ dev [0-9a-f]{12} product$/);
    const lost = JSON.stringify({
      [target]: { ...state, done: 0, hash: '', sent: { rows: 2, hash } },
    });
    writeFileSync(file, lost);
    write('.', { 'lost.csv': 'name,price\nItem 3,1\nItem 4,2\n' });
    expect((await run(['data', 'import', 'product', 'lost.csv'])).stderr).toContain(
      'Rows 1 to 2 of lost.csv have changed, but may be imported',
    );
    write('.', { 'lost.csv': 'name,price\nItem 3,1\nItem 4,1\nItem 3,9\n' });
    expect(await json(['data', 'import', 'product', 'lost.csv'])).toMatchObject({
      imported: 3,
      total: 3,
    });
    expect(await namesIn()).toBe(before + 3);
    for (const id of (
      await entityOf(['query', 'product', '{"data.price":{"$in":[1,9]}}', '--limit', '100'])
    ).data)
      if (id.data.price === 9 || id.data.name === 'Item 4')
        await entityOf(['delete', 'product', id.id]);
  });

  test('an import whose first request is still running waits, keeps what was sent, and creates no row twice', async () => {
    const keys: unknown[] = [];
    let conflicts = Infinity;
    // Between the command and the data service: answers as that does when a request with the
    // same key is running.
    const proxy = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const key = request.headers['idempotency-key'];
      if (key !== undefined) keys.push(key);
      if (key !== undefined && conflicts-- > 0) {
        response.writeHead(409, { 'content-type': 'application/json' });
        return void response.end('{"error":"still running","code":"idempotency_in_progress"}');
      }
      const { authorization, 'content-type': type } = request.headers;
      const answer = await fetch(env.PARLEY_URL + request.url!, {
        method: request.method,
        headers: {
          authorization: authorization!,
          ...(type && { 'content-type': type, 'idempotency-key': String(key) }),
        },
        body: chunks.length > 0 ? Buffer.concat(chunks) : undefined,
      });
      response
        .writeHead(answer.status, { 'content-type': 'application/json' })
        .end(await answer.text());
    }).listen(0, '127.0.0.1');
    await new Promise((listening) => proxy.once('listening', listening));
    const more = { PARLEY_URL: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` };
    const importFile = () => run(['data', 'import', 'product', 'running.csv'], more);
    try {
      write('.', { 'running.csv': 'name,price\nItem 5,71\nItem 6,72\n' });
      expect(await importFile()).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining(
          'An earlier request with rows 1 to 2 is still running. Run the command again',
        ),
      });
      expect([keys.length, new Set(keys).size]).toEqual([5, 1]);
      write('.', { 'running.csv': 'name,price\nItem 5,71\nItem 6,73\n' });
      expect((await importFile()).stderr).toContain(
        'Rows 1 to 2 of running.csv have changed, but may be imported',
      );
      write('.', { 'running.csv': 'name,price\nItem 5,71\nItem 6,72\n' });
      conflicts = 1;
      expect(await importFile()).toMatchObject({
        exitCode: 0,
        stdout: 'Imported 2 of 2 rows into product.\n',
      });
      expect([keys.length, new Set(keys).size]).toEqual([7, 1]);
    } finally {
      proxy.closeAllConnections();
      proxy.close();
    }
    const { data } = await entityOf(['query', 'product', '{"data.price":{"$in":[71,72,73]}}']);
    expect(data).toHaveLength(2);
    for (const { id } of data) await entityOf(['delete', 'product', id]);
  });

  test('the progress of an import belongs to one API key, because another may be of another organization', async () => {
    write('.', { 'shared.csv': 'name,price\nItem 7,81\n' });
    const other = await seedOrganization(db.pool);
    const made = await createApiKey(db, {
      tenant: other.scope.tenant,
      environment: 'development',
      name: 'other',
      permissions: ['*'],
    });
    write('shared', { 'entity-types/product.ts': product });
    await cli.succeed(['push', 'shared'], { env: { ...env, PARLEY_API_KEY: made.key } });
    const importAs = (key: string, ...more: string[]) =>
      run(['data', 'import', 'product', 'shared.csv', ...more], { PARLEY_API_KEY: key });
    expect(await importAs(env.PARLEY_API_KEY!)).toMatchObject({ exitCode: 0 });
    expect(await importAs(made.key)).toMatchObject({
      exitCode: 0,
      stdout: 'Imported 1 of 1 rows into product.\n',
    });
    expect(await importAs(made.key, '--again')).toMatchObject({ exitCode: 0 });
    for (const key of [env.PARLEY_API_KEY!, made.key])
      expect((await importAs(key)).stderr).toContain('was already imported');
    const { data } = await entityOf(['query', 'product', '{"data.price":81}']);
    expect(data).toHaveLength(1);
    await entityOf(['delete', 'product', data[0].id]);
  });

  test('an import accepts the file of an export, which is not overwritten', async () => {
    const printed = await cli.succeed(['data', 'export', 'product'], { env });
    expect(printed.split('\n')).toHaveLength(12);
    expect(await cli.succeed(['data', 'export', 'product', '--out', '-'], { env })).toBe(printed);
    expect(existsSync(join(cli.folder, '-'))).toBe(false);
    expect(await json(['data', 'export', 'product', '--out', 'out.csv'])).toMatchObject({
      exported: 12,
    });
    expect(readFileSync(join(cli.folder, 'out.csv'), 'utf8').split('\n')[0]).toBe(
      'id,status,createdAt,updatedAt,data.name,data.price,data',
    );
    expect(readdirSync(cli.folder).filter((name) => name.includes('.parley-export'))).toEqual([]);
    expect((await run(['data', 'export', 'product', '--out', 'out.csv'])).stderr).toContain(
      'out.csv already exists',
    );
    expect((await json(['data', 'import', 'product', 'out.csv'])).imported).toBe(12);
    rmSync(join(cli.folder, 'out.csv'));
    expect(existsSync(join(cli.folder, 'out.csv.parley-import'))).toBe(true);
  });

  test.each(['none.csv', 'none.jsonl'])(
    'a type without entities can be exported and imported: %s',
    async (file) => {
      const nothing = { slug: 'nothing', name: 'Nothing', schema: { name: 'string' } };
      write('bare', { 'entity-types/nothing.json': JSON.stringify(nothing) });
      await cli.succeed(['push', 'bare'], { env });
      expect(await json(['data', 'export', 'nothing', '--out', file])).toMatchObject({
        exported: 0,
      });
      for (const _again of [1, 2])
        expect(await json(['data', 'import', 'nothing', file])).toEqual({
          type: 'nothing',
          imported: 0,
          total: 0,
        });
    },
  );

  test('nothing is imported from a file with rows that cannot be read', async () => {
    write('.', { 'bad.csv': 'name,price\nA,1\nB,cheap\n' });
    const { exitCode, stderr } = await run(['data', 'import', 'product', 'bad.csv']);
    expect([exitCode, stderr]).toEqual([
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
      expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(problem) });
    }
  });
});
