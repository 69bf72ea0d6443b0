import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seedOrganization } from '@parley/testing';
import { type Cli, openCli } from './testing/run-command';
import { type ManageUnderTest, startManage } from './testing/manage-under-test';

let cli: Cli;
let stack: ManageUnderTest;
let home: string;
let env: Record<string, string>;
const keys = { manage: '', data: '' };
const file = () => join(home, 'parley', 'login.json');

beforeAll(async () => {
  cli = openCli();
  stack = await startManage();
  const { scope } = await seedOrganization(stack.db.pool, { slug: 'shop' });
  keys.manage = await stack.api.keyOf(scope, ['manage']);
  keys.data = await stack.api.keyOf(scope, ['data']);
});
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'parley-home-'));
  env = { XDG_CONFIG_HOME: home };
});
afterEach(() => rmSync(home, { recursive: true, force: true }));
afterAll(async () => {
  await stack.close();
  cli.remove();
});

const login = (input: string, url = stack.url) =>
  cli.parley(['login', '--key', '-', '--url', `${url}/`], { env, input });
const run = (args: string[], more: Record<string, string> = {}) =>
  cli.parley(args, { env: { ...env, ...more } });

test('login stores the address and the key for the user alone, and commands use them until logout', async () => {
  expect((await run(['threads', 'list'])).stderr).toContain('PARLEY_URL is not set');
  expect(await login(`${keys.manage}\n`)).toEqual({
    exitCode: 0,
    stdout: `Logged in to ${stack.url}: development of shop.\n`,
    stderr: '',
  });
  expect(statSync(file()).mode & 0o777).toBe(0o600);
  expect(statSync(join(home, 'parley')).mode & 0o777).toBe(0o700);
  expect(await run(['threads', 'list'])).toEqual({
    exitCode: 0,
    stdout: '',
    stderr: 'No threads in development\n',
  });
  expect(await run(['logout'])).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('Logged out of'),
  });
  expect((await run(['threads', 'list'])).exitCode).toBe(1);
  expect((await run(['logout'])).stderr).toBe('You are not logged in.\n');
});

test('a file that others can read is replaced', async () => {
  mkdirSync(join(home, 'parley'));
  writeFileSync(file(), '{}', { mode: 0o644 });
  await login(keys.manage);
  expect(statSync(file()).mode & 0o777).toBe(0o600);
});

test('PARLEY_URL and PARLEY_API_KEY take precedence, and the stored key is sent to its own address only', async () => {
  await login(keys.manage);
  const other = await run(['threads', 'list'], { PARLEY_API_KEY: keys.data });
  expect(other.stderr).toMatch(
    /API key does not have manage permission\. Create a key with it .*parley login --key -/,
  );
  const elsewhere = await run(['threads', 'list'], { PARLEY_URL: 'http://127.0.0.1:9' });
  expect(elsewhere.stderr).toContain('PARLEY_API_KEY is not set');
  const again = await cli.parley(['login', '--key', '-'], {
    env: { ...env, PARLEY_URL: stack.url },
    input: keys.manage,
  });
  expect(again).toMatchObject({
    exitCode: 0,
    stderr: 'PARLEY_URL in this shell or folder override it.\n',
  });
});

test('a key without the permission manage is stored with a warning', async () => {
  const { exitCode, stdout, stderr } = await login(keys.data);
  expect({ exitCode, stdout }).toEqual({
    exitCode: 0,
    stdout: `Logged in to ${stack.url}: development.\n`,
  });
  expect(stderr).toContain('lacks the permission manage');
});

test('a wrong key, a wrong address and a key as an argument are refused, and store nothing', async () => {
  expect(await login('sk_dev_wrong')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('Unauthorized'),
  });
  expect(await login(keys.manage, 'http://127.0.0.1:9')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('Cannot connect to http://127.0.0.1:9'),
  });
  expect(await login(keys.manage, 'ftp://x')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('http'),
  });
  expect(await login('')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('Standard input has no value'),
  });
  const given = await run(['login', '--key', keys.manage, '--url', stack.url]);
  expect(given).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('not accepted as an argument'),
  });
  expect(given.stderr).not.toContain(keys.manage);
  expect(() => readFileSync(file())).toThrow('ENOENT');
});

test('a file that is not valid JSON is named', async () => {
  mkdirSync(join(home, 'parley'));
  writeFileSync(file(), 'x');
  expect((await run(['threads', 'list'])).stderr).toContain(`${file()} cannot be read`);
  expect(await login(keys.manage)).toMatchObject({ exitCode: 0 });
});
