import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Argument, Command } from 'commander';
import { createProgram } from './program';
import { type Cli, openCli } from './testing/run-command';

let cli: Cli;
beforeAll(() => void (cli = openCli()));
afterAll(() => cli.remove());

const leavesOf = (command: Command, path: string[] = []): { path: string[]; command: Command }[] =>
  command.commands.flatMap((one) => {
    const own = [...path, one.name()];
    return one.commands.length === 0 ? [{ path: own, command: one }] : leavesOf(one, own);
  });

/**
 * `clean` and `logs` start a script of this checkout, and `complete`, which the shells call, prints
 * nothing when it finds nothing. `tools list` lists the built-in tools, and says why there are no
 * others. `logout` has nothing to delete.
 */
const others = ['clean', 'logs', 'complete', 'tools list', 'logout'];
const failing = leavesOf(createProgram())
  .map(({ path, command }) => ({ name: path.join(' '), command }))
  .filter(({ name }) => !others.includes(name));

const jsonLines = (text: string): unknown[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
const stack = /\n\s+at .+:\d+/;

/** Valid arguments of a command that name nothing that exists. */
function plausibleArgs({ registeredArguments, options }: Command): string[] {
  const valueOf = ({ argChoices }: Pick<Argument, 'argChoices'>) => argChoices?.[0] ?? 'nothing';
  const given = options
    .filter(({ mandatory }) => mandatory)
    .flatMap(({ long }) => [long!, long === '--env' ? 'development' : 'data']);
  return [...registeredArguments.map(valueOf), ...given];
}

test('every command fails without a stack, and with --json as one line of JSON', async () => {
  const env = {
    PARLEY_URL: 'http://127.0.0.1:1',
    PARLEY_API_KEY: 'sk_dev_x',
    PARLEY_PRODUCTION_API_KEY: 'sk_prod_x',
    DATABASE_URL: 'postgres://postgres@127.0.0.1:1/nothing',
    SECRETS_KEY: Buffer.alloc(32).toString('base64'),
  };
  writeFileSync(join(cli.folder, 'nothing'), 'not a folder');
  const exceptions: Record<string, string[]> = {
    'webhooks trigger': ['order.paid'],
    completion: ['tcsh'],
  };
  // All at once, because most of them wait before they try to connect again.
  const runs = failing.map(async ({ name, command }) => {
    const args = [...name.split(' '), ...(exceptions[name] ?? plausibleArgs(command)), '--json'];
    const { exitCode, stdout, stderr } = await cli.parley(args, { env });
    expect({ name, isFailure: [1, 2].includes(exitCode), isStack: stack.test(stderr) }).toEqual({
      name,
      isFailure: true,
      isStack: false,
    });
    // The problems that `doctor` finds are its result, not an error.
    const lines = jsonLines(name === 'doctor' ? stdout : stderr);
    const failure = name === 'doctor' ? { ok: false } : { error: expect.stringMatching(/./) };
    expect({ name, lines }).toEqual({ name, lines: [expect.objectContaining(failure)] });
    expect({ name, other: name === 'doctor' ? stderr : stdout }).toEqual({ name, other: '' });
  });
  expect(runs.length).toBeGreaterThan(70);
  await Promise.all(runs);
});

test.each([
  [['data', 'get', 'product'], "missing required argument 'id'"],
  [['data'], 'missing command'],
  [['push', '--no-such'], "unknown option '--no-such'"],
  [['no-such'], "unknown command 'no-such'"],
  [['keys', 'create'], "required option '--env <environment>' not specified"],
])('a wrong call ends with status 2: %j', async (args, problem) => {
  const plain = await cli.parley(args);
  expect(plain).toMatchObject({ exitCode: 2, stdout: '' });
  if (args.length > 1) expect(plain.stderr).toContain(`error: ${problem}`);
  const { exitCode, stdout, stderr } = await cli.parley([...args, '--json']);
  expect([exitCode, stdout]).toEqual([2, '']);
  // When the command is missing, --json itself is an unknown option.
  if (args.length > 1)
    expect(jsonLines(stderr)).toEqual([{ error: expect.stringContaining(problem) }]);
  else expect(jsonLines(stderr)).toEqual([{ error: expect.any(String) }]);
});
