import { builtInToolNames } from '@parley/tools';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { completionsOf, runCompletion } from './commands/completion';
import { createProgram } from './program';
import { version } from './version';
import { hasDefinitions, loadFolder } from './push/load-folder';
import { writeDefinitions } from './pull/write-definitions';
import { compareFields, compareLines } from './push/compare';
import { runCommand } from './testing/run-command';

const withSubcommands = (command: Command): Command[] => [
  command,
  ...command.commands.flatMap(withSubcommands),
];

test('every command has a description, a group and --json', () => {
  const program = createProgram();
  for (const command of program.commands) {
    const name = command.name();
    if (name !== 'complete')
      expect([name, command.helpGroup()]).toEqual([name, expect.stringMatching(/:$/)]);
  }
  const leaves = withSubcommands(program).filter((command) => command.commands.length === 0);
  for (const command of leaves) {
    const name = command.name();
    if (['complete', 'completion'].includes(name)) continue;
    expect([name, command.description()]).toEqual([name, expect.stringMatching(/.+/)]);
    expect([name, command.options.map(({ long }) => long)]).toEqual([
      name,
      expect.arrayContaining(['--json']),
    ]);
  }
});

test('a shell that is named like an inherited property is not known', () => {
  for (const shell of ['constructor', '__proto__', 'toString'])
    expect(() => runCompletion(shell)).toThrow(`not "${shell}"`);
});

test('every command has --help', async () => {
  const paths = (command: Command, path: string[] = []): string[][] =>
    command.commands.flatMap((one) => [
      [...path, one.name()],
      ...paths(one, [...path, one.name()]),
    ]);
  for (const path of paths(createProgram())) {
    let text = '';
    const program = createProgram().configureOutput({ writeOut: (written) => (text += written) });
    for (const command of withSubcommands(program))
      for (const one of command.commands) one.copyInheritedSettings(command);
    await expect(program.parseAsync(['node', 'parley', ...path, '--help'])).rejects.toMatchObject({
      exitCode: 0,
    });
    expect(text).toContain(`Usage: parley ${path.join(' ')}`);
  }
});

test.each([
  [['pu'], ['push', 'pull', 'publishable-keys']],
  [['data', 'ex'], ['export']],
  [
    ['data', 'export', 'product', '--fo'],
    ['--format', '--force'],
  ],
  [
    ['data', 'export', 'product', '--format', ''],
    ['csv', 'jsonl'],
  ],
  [
    ['completion', ''],
    ['bash', 'zsh', 'fish'],
  ],
  [['data', 'export', 'product', '--format=c'], ['--format=csv']],
  [['data', 'export', 'product', '--format', '=', 'js'], ['jsonl']],
  [
    ['data', 'export', 'product', '--format', '='],
    ['csv', 'jsonl'],
  ],
  [['nothing', 'x'], []],
  [['tools', 'show', 'entity.g'], ['entity.get']],
  [['run-tool', 'web'], ['web.fetch']],
])('completes %j', (words, expected) => {
  expect(completionsOf(createProgram(), words, builtInToolNames).sort()).toEqual(
    [...expected].sort(),
  );
});

describe('a new project', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-init-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('has valid definitions of every kind', async () => {
    // With the files of the packages, none are packed.
    mkdirSync(join(folder, 'packages'));
    for (const name of ['cli', 'definitions'])
      writeFileSync(join(folder, 'packages', `parley-${name}-${version}.tgz`), '');
    const made = await runCommand(['init', '.', '--no-install', '--json'], { cwd: folder });
    expect(made).toMatchObject({ exitCode: 0, stderr: '' });
    const { problems, resources } = await loadFolder(folder);
    expect(problems).toEqual([]);
    expect(Object.keys(resources).sort()).toEqual([
      'agents',
      'entityTypes',
      'roles',
      'routers',
      'tools',
      'triggers',
    ]);
    const { devDependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      devDependencies: Record<string, string>;
    };
    // They are not in a registry: `npm install` uses the files that the printed command of
    // tools/pack.mjs creates.
    for (const name of ['cli', 'definitions'])
      expect(devDependencies[`@parley/${name}`]).toBe(
        `file:packages/parley-${name}-${version}.tgz`,
      );
    expect(readdirSync(folder)).toContain('.gitignore');
  });

  test('does not overwrite existing files', async () => {
    const again = await runCommand(['init', '.'], { cwd: folder });
    expect(again).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('Use --force to overwrite them'),
    });
  });
});

test('a file written for a definition evaluates to the same definition', () => {
  const definition = {
    slug: 'a',
    name: "It's",
    systemPrompt: 'One\n`two` ${three} \\n\n',
    model: { model: 'x/y', temperature: 0 },
  };
  const source = writeDefinitions('agents', [definition]);
  expect(source).toMatch(
    /^import \{ defineAgent \} from '@parley\/definitions';\n\nexport default defineAgent\(\{\n {2}slug: 'a',\n/,
  );
  const value: unknown = new Function(
    `return ${source.split('defineAgent(')[1]!.replace(/\);\s*$/, '')}`,
  )();
  expect(value).toEqual(definition);
});

test.each([
  [
    'a\nb\nc',
    'a\nc',
    [
      [' ', 'a'],
      ['-', 'b'],
      [' ', 'c'],
    ],
  ],
  [
    'a',
    'b',
    [
      ['-', 'a'],
      ['+', 'b'],
    ],
  ],
  [
    'a\nb',
    'x\na\nb',
    [
      ['+', 'x'],
      [' ', 'a'],
      [' ', 'b'],
    ],
  ],
  ['same', 'same', [[' ', 'same']]],
])('compares the lines of %j and %j', (before, after, changes) => {
  expect(compareLines(before, after)).toEqual(changes);
});

test('lists are compared element by element', () => {
  const read = { resource: 'product', actions: ['read', 'list'], effect: 'allow' };
  const write = { resource: 'order', actions: ['create'], effect: 'allow' };
  const before = { policies: [read, write, { resource: 'x' }], tools: ['a', 'b'], name: 'A' };
  const after = {
    policies: [{ resource: 'new' }, read, { ...write, effect: 'deny' }],
    tools: ['a', 'c', 'b', 'd'],
    name: 'A',
  };
  expect(compareFields(before, after)).toEqual([
    { path: 'policies.0', after: { resource: 'new' } },
    { path: 'policies.2.effect', before: 'allow', after: 'deny' },
    { path: 'policies.2', before: { resource: 'x' } },
    { path: 'tools.1', after: 'c' },
    { path: 'tools.3', after: 'd' },
  ]);
  expect(compareFields({ tools: ['a'] }, { tools: [] })).toEqual([
    { path: 'tools.0', before: 'a' },
  ]);
  expect(compareFields({ tools: ['a'] }, {})).toEqual([{ path: 'tools', before: ['a'] }]);
});

test('a folder with a package.json of its own, such as tools/ of this checkout, has no definitions', async () => {
  const checkout = join(__dirname, '../../..');
  expect(hasDefinitions(checkout)).toBe(false);
  await expect(loadFolder(checkout)).rejects.toThrow(
    'has no definitions. Expected one of the folders',
  );
});
