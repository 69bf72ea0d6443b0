import { execFile, spawn } from 'node:child_process';
import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { until } from '@parley/testing';
import { createClient } from './client';
import { installPackages, packPackages, root } from './install-packages';
import { shared } from './stack';
import { type Tenant, createTenant } from './tenant';

jest.setTimeout(240_000);

/** A new user has only the packages, the address of the gateway and two keys. */
let tenant: Tenant;
let tarballs: string[];
const folder = mkdtempSync(join(tmpdir(), 'parley-new-user-'));
const project = join(folder, 'shop');
let keys: { development: string; production: string };

beforeAll(async () => {
  tenant = await createTenant();
  keys = {
    development: (await tenant.client()).key,
    production: (await tenant.client({ environment: 'production' })).key,
  };
  tarballs = await packPackages('cli', 'definitions');
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  await installPackages(folder, tarballs);
}, 240_000);
afterAll(async () => {
  await tenant.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The installed command; once the project exists, the one installed in it. */
let command = join(folder, 'node_modules', '.bin', 'parley');
const environment = { PATH: process.env.PATH };

async function parley(cwd: string, ...args: string[]): Promise<{ stdout: string; stderr: string }> {
  return promisify(execFile)(command, args, { cwd, env: environment, encoding: 'utf8' });
}

test('a new user gets from an empty folder to production with init, dev, chat and deploy', async () => {
  const { next, connected } = JSON.parse(
    (await parley(folder, 'init', 'shop', '--no-install', '--json')).stdout,
  ) as {
    next: string[];
    connected: string | null;
  };
  expect(connected).toBeNull();
  const pack = next.find((line) => line.startsWith('node tools/pack.mjs '));
  if (pack !== undefined) await promisify(execFile)('sh', ['-c', pack], { cwd: root });
  expect(next.filter((line) => line !== pack)).toEqual([
    'cd shop && npm install && npx parley dev',
  ]);
  expect(readdirSync(join(project, 'packages')).sort()).toEqual(
    tarballs.map((path) => basename(path)).sort(),
  );
  await installPackages(project, tarballs, { named: true });
  command = join(project, 'node_modules', '.bin', 'parley');
  writeFileSync(
    join(project, '.env'),
    `PARLEY_URL=${shared.url}\nPARLEY_API_KEY=${keys.development}\nPARLEY_PRODUCTION_API_KEY=${keys.production}\n`,
  );

  const dev = spawn(command, ['dev'], { cwd: project, env: environment });
  let output = '';
  for (const stream of [dev.stdout, dev.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const prints = async (text: string) => {
    await until(() => output, {
      isThere: (seen) => seen.includes(text) || dev.exitCode !== null,
      everyMs: 20,
    });
    if (!output.includes(text))
      throw new Error(`parley dev ended with ${dev.exitCode}:\n${output}`);
    output = '';
  };
  await prints('created; development is at version 1.');

  // A mistake in a file, and its correction.
  const agent = join(project, 'agents', 'assistant.ts');
  const source = readFileSync(agent, 'utf8');
  writeFileSync(agent, source.replace("'entity.get'", "'entity.gte'"));
  await prints('unknown tool "entity.gte"');
  writeFileSync(agent, source.replace("name: 'Assistant'", "name: 'Shop assistant'"));
  await prints('"Assistant" → "Shop assistant"');
  dev.kill('SIGINT');
  expect(await new Promise((ended) => dev.once('exit', ended))).toBe(0);

  await parley(project, 'data', 'create', 'product', '{"name":"Dome","price":249,"inStock":true}');
  const chat = await parley(project, 'chat', 'assistant', '/tool entity.query {"type":"product"}');
  expect(chat.stdout).toContain('Dome');
  expect(chat.stderr).toContain('entity.query  ok');
  const discount = await parley(
    project,
    'chat',
    'front-desk',
    '/tool shop.discount {"total":200}',
    '--router',
    '--json',
  );
  expect(JSON.parse(discount.stdout)).toMatchObject({
    routedToAgentSlug: 'assistant',
    message: expect.stringContaining('10'),
  });
  expect((await parley(project, 'compile-prompt', 'assistant')).stdout).toContain(
    'You are the assistant of a small shop.',
  );
  const tool = JSON.parse(
    (await parley(project, 'run-tool', 'shop.discount', '{"total":200}', '--json')).stdout,
  );
  expect(tool).toMatchObject({ result: { percent: 10 }, tool: { isBuiltin: false } });

  // A handler that uses a variable and an import of its file, and fails in the imported one.
  writeFileSync(
    join(project, 'tools', '_total.ts'),
    "// Prices.\nexport function checked(n: number) {\n  if (n < 0) throw new Error('a negative price');\n  return n;\n}\n",
  );
  writeFileSync(
    join(project, 'tools', 'vat.ts'),
    `import { defineTools } from '@parley/definitions';
import { checked } from './_total';

const VAT = 0.19;

export default defineTools([
  {
    name: 'shop.vat',
    description: 'Returns the tax of a price.',
    parameters: { type: 'object', properties: { price: { type: 'number' } }, required: ['price'] },
    handler({ price }: { price: number }) {
      console.log('price', price);
      return { vat: checked(price) * VAT };
    },
  },
]);
`,
  );
  await parley(project, 'push');
  const vat = await parley(project, 'run-tool', 'shop.vat', '{"price":100}');
  expect(JSON.parse(vat.stdout)).toEqual({ vat: 19 });
  expect(vat.stderr).toContain('console.log: price 100');
  const negative = (await parley(project, 'run-tool', 'shop.vat', '{"price":-1}').catch(
    (error: Error) => error,
  )) as {
    stderr: string;
  };
  expect(negative.stderr).toMatch(
    /console\.log: price -1\n.*a negative price \(tools\/_total\.ts:3\)/,
  );

  expect((await parley(project, 'diff')).stderr).toContain('nothing to change');
  const deployed = await parley(project, 'deploy', '--yes');
  expect(deployed.stderr).toMatch(/^Deployed: \d+ created; production is at version 1\.\n$/);
  const production = createClient(shared.url, keys.production);
  const types = await production.get('/v1/entity-types');
  expect(types.body.data.map(({ slug }: { slug: string }) => slug).sort()).toEqual([
    'order',
    'product',
  ]);
  const { findings } = JSON.parse((await parley(project, 'doctor', '--json')).stdout) as {
    findings: { name: string; state: string }[];
  };
  expect(findings).toEqual(
    expect.arrayContaining([expect.objectContaining({ name: 'API key', state: 'ok' })]),
  );
});

test('the project compiles with the types of the package', async () => {
  copyFileSync(join(project, 'tsconfig.json'), join(project, 'tsconfig.types.json'));
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const { stdout } = await promisify(execFile)(process.execPath, [tsc, '-p', 'tsconfig.json'], {
    cwd: project,
  });
  expect(stdout).toBe('');
});

test('the command reports its version, and which commands use the HTTP API or the database', async () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  expect((await parley(folder, '--version')).stdout.trim()).toBe(version);
  const help = (await parley(folder, '--help')).stdout;
  expect(help).toMatch(/Commands that use the HTTP API[^:]*:\n(.*\n)+?.* push /);
  expect(help).toMatch(/Commands that use the database[^:]*:\n(.*\n)*?.* migrate /);
});
