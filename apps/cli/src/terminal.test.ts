import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { type Db, createDb } from '@parley/db';
import { openTestDatabase, seedOrganization } from '@parley/testing';
import { type PseudoTerminal, openPseudoTerminal } from '../../e2e/src/pseudo-terminal';
import { bundle, runProcess } from './testing/built-command';
import { type Cli, openCli } from './testing/run-command';
import { version } from './version';

let cli: Cli;
let db: Db & { url: string };
const opened: PseudoTerminal[] = [];

beforeAll(async () => {
  cli = openCli();
  db = await openTestDatabase(createDb);
});
afterEach(() => opened.splice(0).forEach((terminal) => terminal.kill()));
afterAll(async () => {
  await db.close();
  cli.remove();
});

function open(args: string, env: Record<string, string>): PseudoTerminal {
  const line = `exec ${process.execPath} ${bundle} ${args}`;
  const terminal = openPseudoTerminal(line, {
    cwd: cli.folder,
    env: { PATH: process.env.PATH, ...env },
  });
  opened.push(terminal);
  return terminal;
}

test('errors of dev are coloured, and control characters in them are escaped', async () => {
  mkdirSync(join(cli.folder, 'shop', 'agents'), { recursive: true });
  writeFileSync(join(cli.folder, 'shop', 'agents', 'a.ts'), `throw new Error('\\x1b[2J cleared');`);
  const terminal = open('dev shop', {
    PARLEY_URL: 'http://127.0.0.1:2',
    PARLEY_API_KEY: 'sk_dev_x',
  });
  const shown = await terminal.shows('cleared');
  expect(shown).toContain('\x1b[31merror:\x1b[39m');
  expect(shown).toContain('agents/a.ts: \\u001b[2J cleared');
  expect(shown).not.toContain('\\u001b[3');
  terminal.type('\x03');
  expect(await terminal.ended).toBe(0);
});

test('no error of a command shows escape sequences as text, and control characters of others are escaped', async () => {
  const hostile = '{ "error": "no \\u001b[2J way", "code": "odd" }';
  const explained = hostile.replace(' }', ', "reason": "no role" }');
  const server = createServer((request, response) => {
    response
      .writeHead(400, { 'Content-Type': 'application/json' })
      .end(request.url === '/v1/run-tool' ? explained : hostile);
  }).listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  mkdirSync(join(cli.folder, 'odd', 'agents'), { recursive: true });
  writeFileSync(join(cli.folder, 'odd', 'agents', 'a.ts'), 'export default 1 +;');
  const env = {
    PARLEY_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    PARLEY_API_KEY: 'sk_dev_x',
    DATABASE_URL: 'postgresql://127.0.0.1:1/none',
  };
  try {
    for (const line of [
      'chat a hi',
      'status',
      'data list product',
      'run-tool x',
      'pull copy',
      'fire x',
    ]) {
      const run = await cli.parley(line.split(' '), { env, isTerminal: true });
      expect([line, run.exitCode]).toEqual([line, 1]);
      const reason = line === 'run-tool x' ? ': no role' : '';
      const output = run.stdout + run.stderr;
      expect(output).toContain(`error: no \\u001b[2J way${reason} (odd)`);
      expect(output.split('\\u001b')).toHaveLength(2);
    }
    const conversation = open('chat a', env);
    await conversation.shows('> ');
    conversation.type('hi\r');
    expect(await conversation.shows('way (odd)')).toContain(
      '\x1b[31merror: no \\u001b[2J way (odd)',
    );
    for (const line of [
      'push odd',
      'diff odd',
      'deploy odd',
      'threads list',
      'keys create',
      'no-such',
      'init odd/agents/a.ts',
    ]) {
      const run = await cli.parley(line.split(' '), { env, isTerminal: true });
      expect([line, run.exitCode]).toEqual([line, expect.any(Number)]);
      const output = run.stdout + run.stderr;
      expect(output).toMatch(/error/i);
      expect(output).not.toMatch(/\\u001b\[\d*m/);
    }
  } finally {
    server.close();
  }
});

test('nothing that others wrote reaches the terminal as a control sequence: names of fields, values, warnings, reasons', async () => {
  const hostile = `x\u001b]0;pwned\u0007\u001b[2J\u009b31m\u202egnp\u2066\r\b\u007f`;
  const entity = {
    id: 'ent_1',
    type: hostile,
    status: hostile,
    data: { [hostile]: 1, a: hostile },
    createdAt: 1,
    updatedAt: 1,
  };
  const answers: Record<string, object> = {
    '/v1/data/product': { data: [entity], cursor: hostile, hasMore: true },
    '/v1/data/product/ent_1': entity,
    '/v1/entity-types': {
      data: [{ slug: 'product', name: hostile, schema: { [hostile]: 'string' }, searchFields: [] }],
    },
    '/v1/integrations/flow/test': { ok: true, reason: hostile, durationMs: 1 },
    '/v1/sync': {
      version: 1,
      dryRun: false,
      results: {},
      warnings: [{ path: hostile, message: hostile }],
    },
  };
  const server = createServer((request, response) => {
    const answer = answers[request.url!.split('?')[0]!];
    response.writeHead(answer ? 200 : 400, { 'Content-Type': 'application/json' });
    response.end(
      JSON.stringify(
        answer ?? { error: hostile, code: hostile, details: [{ path: hostile, message: hostile }] },
      ),
    );
  }).listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  const env = {
    PARLEY_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    PARLEY_API_KEY: 'sk_dev_x',
  };
  try {
    for (const line of [
      'data list product',
      'data list product --json',
      'data get product ent_1',
      'data export product --format csv',
      'data export product --format jsonl',
      'integrations test flow',
      'threads list --debug',
      'agents list',
      'types list',
    ]) {
      const terminal = open(line, env);
      await terminal.ended;
      const shown = terminal.output
        .replaceAll(/\x1b\[(?:[0-4]|2[2-4]|3[0-79]|9[0-7])m/g, '')
        .replaceAll('\r\n', '\n');
      expect([line, shown.match(/(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu)]).toEqual([
        line,
        null,
      ]);
    }
    const list = open('data list product', env);
    await list.ended;
    expect(list.output).toContain('x\\u001b]0;pwned\\u0007\\u001b[2J\\u009b31m\\u202egnp\\u2066');
  } finally {
    server.close();
  }
});

test('with several organizations a terminal asks for one', async () => {
  for (const slug of ['acme', 'bern']) await seedOrganization(db.pool, { slug });
  const chosen = open('members invite', { DATABASE_URL: db.url });
  await chosen.shows('Which organization?');
  chosen.type('\x1b[B');
  await chosen.shows(/\x1b\[32m●\x1b\[39m bern/);
  chosen.type('\r');
  expect(await chosen.ended).toBe(0);
  expect(chosen.output).toContain('becomes admin of bern');

  const cancelled = open('members invite', { DATABASE_URL: db.url });
  await cancelled.shows('Which organization?');
  cancelled.type('\x03');
  expect(await cancelled.ended).toBe(1);
  expect(cancelled.output).toContain('error: No organization was chosen');
});

test('clean asks on the terminal through the script of the checkout, and logs reads its files', async () => {
  const state = join(cli.folder, 'state');
  mkdirSync(join(state, 'logs'), { recursive: true });
  writeFileSync(join(state, 'secrets.json'), '{"SECRETS_KEY":"a","EXECUTOR_TOKEN":"b"}');
  const line = JSON.stringify({
    level: 'info',
    time: '2026-01-01T10:00:00.000Z',
    msg: 'listening',
  });
  writeFileSync(join(state, 'logs', 'data.log'), `${line}\n`);
  // The script writes to the streams of the process.
  const run = (...args: string[]) =>
    runProcess([...args, '--state', state, '--json'], { cwd: cli.folder });
  expect(await run('logs', 'data')).toMatchObject({ exitCode: 0, stdout: `${line}\n` });
  const unknown = await run('logs', 'dat');
  expect([unknown.exitCode, JSON.parse(unknown.stderr)]).toEqual([
    1,
    { error: 'There is no service dat. Available: data.' },
  ]);

  const terminal = open(`clean --state ${state}`, {});
  await terminal.shows('Delete this? [y/N]');
  terminal.type('n\r');
  expect(await terminal.ended).toBe(1);
  expect(terminal.output).toContain('error: Nothing was deleted.');
  expect(existsSync(state)).toBe(true);
  expect(JSON.parse((await run('clean', '--yes')).stdout)).toMatchObject({
    deleted: expect.arrayContaining([expect.objectContaining({ path: join(state, 'logs') })]),
  });
  expect(existsSync(state)).toBe(false);
});

describe('init', () => {
  const state = () => join(cli.folder, '.parley');
  const settings = (folder: string) => readFileSync(join(cli.folder, folder, '.env'), 'utf8');
  const npm = () => ({ HOME: cli.folder, npm_config_registry: registry.url });
  let registry: Awaited<ReturnType<typeof startRegistry>>;
  beforeAll(async () => void (registry = await startRegistry(cli.folder)));
  afterAll(() => registry.close());
  afterEach(() => rmSync(state(), { recursive: true, force: true }));

  test('connects the project to the running stack, packs the packages of the checkout, and names one command', async () => {
    mkdirSync(state());
    const stack = { gatewayUrl: 'http://localhost:4321', databaseUrl: '', key: 'sk_dev_1' };
    writeFileSync(join(state(), 'stack.json'), JSON.stringify(stack));
    const { exitCode, stderr } = await cli.parley(['init', 'first', '--no-install'], {
      isTerminal: true,
    });
    expect(exitCode).toBe(0);
    expect(stderr).toContain('\x1b[32m✓\x1b[39m Packing the packages of this checkout');
    const next = 'cd first && npm install && npx parley dev';
    expect(stderr).toMatch(/connected to http:\/\/localhost:4321 \(first\/\.env\)[^]*Next:/);
    expect(stderr).toContain(`\x1b[1m${next}\x1b[22m`);
    expect(settings('first')).toMatch(
      /^PARLEY_URL=http:\/\/localhost:4321\n[^]*^PARLEY_API_KEY=sk_dev_1$/m,
    );
    expect(statSync(join(cli.folder, 'first', '.env')).mode & 0o077).toBe(0);

    // Settings of the user are never overwritten.
    writeFileSync(join(cli.folder, 'first', '.env'), 'MINE=1\n');
    const again = JSON.parse(
      await cli.succeed(['init', 'first', '--force', '--no-install', '--json']),
    );
    expect(again).toMatchObject({ connected: null, installed: false, next: [next] });
    expect(settings('first')).toBe('MINE=1\n');
  });

  test('installs the packages, and names the command that follows', async () => {
    mkdirSync(join(cli.folder, 'installed', 'packages'), { recursive: true });
    for (const name of ['cli', 'definitions'])
      copyFileSync(packed(name), join(cli.folder, 'installed', 'packages', basename(packed(name))));
    const { exitCode, stderr } = await cli.parley(['init', 'installed'], { env: npm() });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 0,
      stderr: expect.stringContaining('✓ Installing (npm install)'),
    });
    expect(stderr).toMatch(/Next:\n\n {2}cd installed && npx parley dev\n\n$/);
    for (const name of ['@parley/cli', '@parley/definitions', 'typescript'])
      expect(existsSync(join(cli.folder, 'installed', 'node_modules', name, 'package.json'))).toBe(
        true,
      );
  });

  test('keeps the files and says what to do when the installation fails, or no stack runs', async () => {
    mkdirSync(join(cli.folder, 'second', 'packages'), { recursive: true });
    for (const name of ['cli', 'definitions'])
      writeFileSync(
        join(cli.folder, 'second', 'packages', `parley-${name}-${version}.tgz`),
        'no tarball',
      );
    const production = { PARLEY_URL: 'https://parley.example', PARLEY_API_KEY: 'sk_prod_1' };
    const { exitCode, stderr } = await cli.parley(['init', 'second'], {
      env: { ...npm(), ...production },
    });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/✗ Installing \(npm install\): .*npm error/);
    expect(stderr).toContain(
      'Start Parley and enter its address and a development key in second/.env',
    );
    expect(stderr).toContain('cd second && npm install && npx parley dev');
    expect(settings('second')).not.toContain('sk_prod_1');
  });
});

const packed = (name: string) => join(cli.folder, 'packed', `parley-${name}-${version}.tgz`);

/** Packs empty packages, and serves `typescript` as a registry of npm does. */
async function startRegistry(folder: string): Promise<{ url: string; close(): void }> {
  mkdirSync(join(folder, 'packed'));
  const names = ['@parley/cli', '@parley/definitions', 'typescript'];
  const sources = names.map((name, at) => {
    const source = join(folder, `source-${at}`);
    mkdirSync(source);
    const manifest = { name, version: name === 'typescript' ? '5.9.3' : version };
    writeFileSync(join(source, 'package.json'), JSON.stringify(manifest));
    return source;
  });
  execFileSync('npm', [
    'pack',
    ...sources,
    '--silent',
    '--pack-destination',
    join(folder, 'packed'),
  ]);
  const server = createServer(({ url }, response) => {
    if (url?.endsWith('.tgz'))
      return response.end(readFileSync(join(folder, 'packed', 'typescript-5.9.3.tgz')));
    const { port } = server.address() as AddressInfo;
    const dist = { tarball: `http://127.0.0.1:${port}/typescript-5.9.3.tgz` };
    const versions = { '5.9.3': { name: 'typescript', version: '5.9.3', dist } };
    response.setHeader('Content-Type', 'application/json');
    response.end(
      JSON.stringify({ name: 'typescript', 'dist-tags': { latest: '5.9.3' }, versions }),
    );
  }).listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => server.close(),
  };
}
