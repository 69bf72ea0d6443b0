import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { bundle, runProcess } from './testing/built-command';
import { type Cli, openCli } from './testing/run-command';
import { version } from './version';

// What a command has only as a process: its exit code, its pipes and its end. The other tests run
// commands in the process of the test.

let cli: Cli;
let server: Server;
let env: Record<string, string>;

/** Answers every request with more than a pipe can hold. */
const answer = JSON.stringify({ results: {}, version: 1, text: 'x'.repeat(500_000) });

beforeAll(async () => {
  cli = openCli(runProcess);
  server = createServer((_request, response) => response.end(answer)).listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  env = {
    PARLEY_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    PARLEY_API_KEY: 'sk_dev_x',
  };
});
afterAll(() => {
  server.close();
  cli.remove();
});

test('--version prints the version', async () => {
  expect(await cli.parley(['--version'])).toEqual({
    exitCode: 0,
    stdout: `${version}\n`,
    stderr: '',
  });
});

test('a failure ends with status 1, a wrong call with 2', async () => {
  const unreachable = await cli.parley(['status'], {
    env: { ...env, PARLEY_URL: 'http://127.0.0.1:1' },
  });
  expect(unreachable).toMatchObject({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringMatching(/^error: .*\n$/),
  });
  const wrong = await cli.parley(['no-such', '--json']);
  expect(wrong).toEqual({
    exitCode: 2,
    stdout: '',
    stderr: `{"error":"unknown command 'no-such'"}\n`,
  });
});

test('an object on standard input is read to its end, and output that fills the pipe is written to its end', async () => {
  const input = JSON.stringify({ text: 'y'.repeat(500_000) });
  const { exitCode, stdout } = await cli.parley(['data', 'create', 'product', '-', '--json'], {
    env,
    input,
  });
  expect([exitCode, stdout.length]).toEqual([0, answer.length + 1]);
});

test('a reader that closes the pipe early is not an error', async () => {
  const line = `${process.execPath} ${bundle} data get product x --json | head -c 1; exit \${PIPESTATUS[0]}`;
  const child = spawn('bash', ['-c', line], {
    cwd: cli.folder,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const exitCode = await new Promise((ended) => child.once('close', ended));
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
});

test('definition files that keep the process busy or end it do neither', async () => {
  const agents = join(cli.folder, 'odd', 'agents');
  mkdirSync(agents, { recursive: true });
  const definition = `export default { slug: 'a', name: 'A', systemPrompt: 'x' };`;
  writeFileSync(join(agents, 'a.ts'), `setInterval(() => {}, 1_000);\n${definition}`);
  expect(await cli.parley(['push', 'odd', '--json'], { env })).toMatchObject({ exitCode: 0 });
  writeFileSync(join(agents, 'a.ts'), `process.exit(0);\n${definition}`);
  const exiting = await cli.parley(['push', 'odd'], { env });
  expect(exiting).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('agents/a.ts: calls process.exit(0)'),
  });
});
