import { execFile } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type Operation, operations } from '@parley/contracts';
import { rounds } from '@parley/testing';
import { builtInToolNames } from '@parley/tools';
import pg from 'pg';
import {
  installPackages,
  installedCommand,
  npmEnvironment,
  packPackages,
  root,
} from './install-packages';
import { startOwnStack, shared } from './stack';
import { runFile } from './command-line';
import { readTutorial, tutorials } from './follow-tutorial';
import { type CommandServer, startCommandServer } from './command-server';

/** About a hundred processes of the command line in the full run. */
jest.setTimeout(rounds(120_000, 420_000));

/**
 * Commands that are not run here, by the beginning of a line, with the reason. Everything else in a
 * block of `sh` runs against a stack with the demo organization, in the order of the pages.
 */
const notRun: Record<string, string> = {
  OTEL_EXPORTER_OTLP_ENDPOINT: 'starts a stack; observability.test has a collector',
  'npm start': 'new-user.test and the start of this suite run it',
  'npm test': 'it would run this test',
  'npm install': 'new-user.test installs packages',
  'node tools/': 'runs in the checkout; other tests run these scripts',
  'git pull': 'the folder is no clone; copy-database.test has an earlier schema',
  'npm ci': 'the folder is no clone',
  'npx nx ': 'runs a service until it is stopped',
  'npx parley backup': 'backup.test has databases of its own',
  'npx parley restore': 'needs an empty database',
  'npx parley payments reconcile': "needs a provider's account",
  psql: "needs PostgreSQL's programs",
};

/** A block that contains one of these lines is not run; only its syntax is checked. */
const notRunBlocks: Record<string, string> = {
  'docker ': 'needs a container engine',
  'kubectl ': 'needs a cluster',
  'helm ': 'needs a cluster',
  'cosign ': 'needs published images',
  'npx parley integrations': "needs a provider's account",
  'npx parley channels': "needs a provider's account",
  'npx parley whatsapp': 'stand-ins.test has the simulated providers',
  'npx parley emails show': 'stand-ins.test has the simulated providers',
  'ss -t': 'lists the connections of this machine',
  '/v1/data/payment': 'the entity type exists after the first payment',
  '/webhook/clerk"': 'this stack has a secret; webhooks-unsigned.test sends unsigned deliveries',
};

interface Block {
  page: string;
  line: number;
  lastLine: number;
  language: string;
  text: string;
}

/**
 * The guide to the command line is first: it creates the project that others add definitions to.
 */
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'docs/cli.md',
  ...['docs', 'docs/reference'].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.md') && name !== 'cli.md')
      .map((name) => `${folder}/${name}`),
  ),
];

const lineAt = (text: string, index: number) => text.slice(0, index).split('\n').length;

const blocks: Block[] = pages.flatMap((page) =>
  [...readFileSync(join(root, page), 'utf8').matchAll(/^( *)```(\w+)\n(.*?)^ *```$/gms)].map(
    (found) => ({
      page,
      line: lineAt(found.input, found.index),
      lastLine: lineAt(found.input, found.index + found[0].length),
      language: found[2]!,
      text: found[3]!.replaceAll(new RegExp(`^${found[1]}`, 'gm'), ''),
    }),
  ),
);
const of = (...languages: string[]) =>
  blocks
    .filter(({ language }) => languages.includes(language))
    .map((block) => [`${block.page}:${block.line}`, block] as const);

const folder = mkdtempSync(join(tmpdir(), 'parley-docs-'));
let stack: Awaited<ReturnType<typeof startOwnStack>>;
let commands: CommandServer;
/** The values of the ids and keys that a page abbreviates. */
let values: Record<string, string>;
let environment: Record<string, string>;

const execute = promisify(execFile);

beforeAll(async () => {
  const secrets = { ...shared.webhookSecrets, PUBLIC_URL: shared.publicUrl };
  stack = await startOwnStack({ environment: { RATE_LIMIT_PER_KEY: '100000', ...secrets } });
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  commands = await startCommandServer();
  const installed = `"${process.execPath}" "${await installedCommand()}/node_modules/@parley/cli/main.cjs"`;
  const parley = rounds(commands.words, installed);
  for (const [name, script] of Object.entries({
    // In the process of a test `parley init` would pack the packages, as in a checkout.
    parley: `[ "$1" = init ] && exec ${installed} "$@"; exec ${parley} "$@"`,
    npx: `[ "$1" = parley ] || exit 127; shift; exec parley "$@"`,
    // `parley init` runs `npm install`; new-user.test and apps/cli install packages.
    npm: `[ "$1" = install ] && exit 0; PATH="\${PATH#*:}" exec npm "$@"`,
  })) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  await installPackages(folder, await packPackages('client', 'definitions'));
  environment = {
    PATH: `${bin}:${dirname(process.execPath)}:${process.env.PATH}`,
    HOME: folder,
    XDG_CONFIG_HOME: join(folder, '.config'),
    ...secrets,
    PARLEY_URL: stack.url,
    DATABASE_URL: stack.databaseUrl,
    REDIS_URL: stack.redisUrl,
    SECRETS_KEY: stack.secretsKey,
    EXECUTOR_TOKEN: stack.executorToken,
    CARRIER_KEY: 'key-of-the-carrier',
    NODE_COMPILE_CACHE: join(folder, 'compiled'),
    ...npmEnvironment,
  };
  environment.PARLEY_API_KEY = (await json('demo')).key;
  const keys = ['--env', 'production', '--permissions', '*', '--name', 'docs'];
  environment.PARLEY_PRODUCTION_API_KEY = (
    await json('keys', 'create', '--org', 'demo', ...keys)
  ).key;
  for (const type of ['product', 'order', 'customer'])
    environment[`${type.toUpperCase()}_ID`] = (
      await json('data', 'list', type, '--limit', '1')
    ).data[0].id;
  const [, product] = (await json('data', 'list', 'product', '--limit', '2')).data;
  const { threadId } = await json('chat', 'shop-assistant', 'Hello', '--external-thread', 'web:42');
  const { data: executions } = await json('executions', 'list', '--thread', threadId);
  values = {
    'http://localhost:4000': stack.url,
    'sk_dev_…': environment.PARLEY_API_KEY!,
    'sk_prod_…': environment.PARLEY_PRODUCTION_API_KEY!,
    'ent_01h…': product.id,
    'ent_01j…': environment.ORDER_ID!,
    'thread_01h…': threadId,
    '3765164349680730849': executions[0].id,
  };
}, 240_000);
afterAll(async () => {
  commands.close();
  await stack.stop();
  rmSync(folder, { recursive: true, force: true });
});

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the result depends on the command
async function json(...args: string[]): Promise<any> {
  const { stdout } = await execute('parley', [...args, '--json'], {
    cwd: folder,
    env: environment,
  });
  return JSON.parse(stdout);
}

async function hideOtherOrganizations(): Promise<void> {
  const client = new pg.Client(stack.databaseUrl);
  await client.connect();
  await client.query("update organizations set deleted_at = now() where slug <> 'demo'");
  await client.end();
}

function write(file: string | undefined, text: string): void {
  if (file === undefined) return;
  mkdirSync(join(folder, dirname(file)), { recursive: true });
  writeFileSync(join(folder, file), text);
}

const filled = (text: string) =>
  Object.entries(values).reduce((whole, [given, value]) => whole.replaceAll(given, value), text);

/** A block of TypeScript that begins with `// FILE` is that file. */
const fileOf = (text: string) => /^\/\/ (\S+\.ts)\n/.exec(text)?.[1];

test.each(of('sh', 'ts'))('%s: the commands run', async (_place, block) => {
  const { language, text } = block;
  if (language === 'ts') return write(fileOf(text), text);
  const next = blocks[blocks.indexOf(block) + 1];
  const isRefused = next?.line === block.lastLine + 2 && /^\{\s*"error"/.test(next.text);
  const isRun = !Object.keys(notRunBlocks).some((command) => text.includes(command));
  const script = filled(text)
    .split('\n')
    .filter((line) => !Object.keys(notRun).some((start) => line.trim().startsWith(start)))
    .join('\n');
  const { code, stdout, stderr } = await runFile(
    'bash',
    [isRun ? '-c' : '-nc', `set -e\ncurl() { command curl --fail-with-body "$@"; }\n${script}`],
    {
      cwd: folder,
      env: environment,
    },
  );
  // The pages are about one organization; a second one would have to be named in every command.
  if (text.includes('org create')) await hideOtherOrganizations();
  const wanted = isRefused ? 22 : 0;
  expect({ script, code, output: code === wanted ? '' : stdout + stderr }).toEqual({
    script,
    code: wanted,
    output: '',
  });
});

test.each(of('json'))('%s: the JSON is valid', (_place, { text }) => {
  expect(JSON.parse(text)).toEqual(expect.anything());
});

test.each(tutorials)(
  'the tutorial %s: the commands have a valid syntax (tutorials.test runs them)',
  async (name) => {
    const commands = readTutorial(name).flatMap((step) =>
      'commands' in step ? step.commands : [],
    );
    expect(commands).not.toEqual([]);
    expect(await runFile('bash', ['-nc', commands.join('\n')], {})).toMatchObject({
      code: 0,
      stderr: '',
    });
  },
);

/** The files, and one module for the other blocks of each page. */
function modules(): Map<string, string> {
  const files = new Map<string, string>();
  for (const name of tutorials)
    for (const step of readTutorial(name))
      if (step.kind === 'file' && step.path.endsWith('.ts'))
        files.set(join('tutorials', name, step.path), step.content);
  for (const [, { page, text }] of of('ts')) {
    const named = fileOf(text);
    const file = named ?? `${page.replaceAll(/[/.]/g, '-')}.ts`;
    files.set(file, `${named === undefined ? (files.get(file) ?? '') : ''}${filled(text)}`);
  }
  return files;
}

test('the TypeScript of the pages has the types of the published packages', async () => {
  const files = modules();
  for (const [file, text] of files) write(file, text);
  writeFileSync(
    join(folder, 'prompts.d.ts'),
    "declare module '*.md' {\n  const text: string;\n  export default text;\n}\n",
  );
  const options = {
    target: 'es2023',
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['es2023', 'dom'],
    types: [],
  };
  const compilerOptions = { ...options, strict: true, noEmit: true, skipLibCheck: true };
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: [...files.keys(), 'prompts.d.ts'] }),
  );
  const { stdout, code } = await runFile(
    process.execPath,
    [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder],
    {
      cwd: folder,
    },
  );
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
});

test('the example of the typed client runs', async () => {
  const file = join(folder, 'docs-client-md.ts');
  const { code, stderr } = await runFile(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', file],
    {
      cwd: folder,
    },
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

test('each exception is still needed', () => {
  const lines = of('sh').flatMap(([, { text }]) => text.split('\n'));
  const all = { ...notRun, ...notRunBlocks };
  expect(Object.keys(all).filter((start) => !lines.some((line) => line.includes(start)))).toEqual(
    [],
  );
});

test('each endpoint, each of its error codes and each built-in tool is in the API reference', () => {
  const reference = pages
    .filter((page) => page.startsWith('docs/reference/'))
    .map((page) => readFileSync(join(root, page), 'utf8'))
    .join('\n');
  const endpoints: Operation[] = Object.values(operations);
  const all = endpoints.flatMap(({ method, path, errors = {} }) => [
    `${method.toUpperCase()} ${path}`,
    ...Object.values(errors).flatMap((list) => list.map(([code]) => code)),
  ]);
  const missing = [...all, ...builtInToolNames].filter((text) => !reference.includes(text));
  expect(missing).toEqual([]);
});
