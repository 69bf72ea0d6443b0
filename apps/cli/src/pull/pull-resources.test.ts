import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type AgentDefinition, type ResourceSet, resourceKinds } from '@parley/contracts';
import { loadFolder } from '../push/load-folder';
import { pullResources } from './pull-resources';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-pull-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(files: Record<string, string>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
}

const agent = (slug: string, name = slug.toUpperCase()): AgentDefinition =>
  ({ slug, name, systemPrompt: 'You\nhelp.' }) as AgentDefinition;
const tool = (name: string, description = name) => ({
  name,
  description,
  parameters: { type: 'object' },
  handlerCode: 'return 1;',
});
const environmentOf = (resources: object): Required<ResourceSet> => ({
  ...(Object.fromEntries(
    resourceKinds.map((kind) => [kind, []]),
  ) as unknown as Required<ResourceSet>),
  ...resources,
});
const pull = async (remote: object, { force = false } = {}) =>
  pullResources(folder, environmentOf(remote), await loadFolder(folder).catch(() => null), force);
const read = (name: string) => readFileSync(join(folder, name), 'utf8');

test('--force rewrites a file of several definitions, and keeps those that only the folder has', async () => {
  write({
    'agents/all.ts': `import { defineAgent } from '@parley/definitions';
      export const one = defineAgent({ slug: 'one', name: 'Mine', systemPrompt: 'x' });
      export default [one, defineAgent({ slug: 'two', name: 'TWO', systemPrompt: 'You\\nhelp.' }),
        defineAgent({ slug: 'own', name: 'Only here', systemPrompt: 'y' })];`,
    'tools/all.json': JSON.stringify([tool('a.one', 'mine'), tool('a.two')]),
  });
  const remote = { agents: [agent('one'), agent('two')], tools: [tool('a.one'), tool('a.two')] };
  const outcomes = (pulled: { slug: string; outcome: string }[]) =>
    pulled.map(({ slug, outcome }) => [slug, outcome]);

  expect(outcomes(await pull(remote))).toEqual(
    expect.arrayContaining([
      ['one', 'kept'],
      ['two', 'unchanged'],
      ['a.one', 'kept'],
    ]),
  );
  expect(read('agents/all.ts')).toContain('Mine');
  expect(outcomes(await pull(remote, { force: true }))).toEqual(
    expect.arrayContaining([
      ['one', 'written'],
      ['two', 'unchanged'],
      ['a.one', 'written'],
      ['a.two', 'unchanged'],
    ]),
  );
  const { resources, problems } = await loadFolder(folder);
  expect(problems).toEqual([]);
  const plain = JSON.parse(JSON.stringify(resources)) as ResourceSet;
  expect(plain.agents).toEqual([
    agent('one'),
    agent('two'),
    expect.objectContaining({ slug: 'own', name: 'Only here' }),
  ]);
  expect(plain.tools).toEqual(remote.tools);
  expect((await pull(remote)).every(({ outcome }) => outcome === 'unchanged')).toBe(true);
});

test('a file with another definition is not overwritten: the pulled one gets another file name', async () => {
  write({
    'agents/helper.json': JSON.stringify(agent('renamed')),
    'agents/helper.ts': 'export default { slug: "x", name: "X", systemPrompt: "x" };',
  });
  const pulled = await pull({ agents: [agent('helper')] }, { force: true });
  expect(pulled).toEqual([
    { kind: 'agents', slug: 'helper', file: 'agents/helper-2.ts', outcome: 'written' },
  ]);
  expect(read('agents/helper.ts')).toContain('"X"');
});

test('files that cannot be read are reported and not changed', async () => {
  write({
    'agents/helper.ts': 'export default {{{',
    'roles/both.ts': `import { defineAgent, defineRole } from '@parley/definitions';
      export const role = defineRole({ slug: 'clerk', name: 'Mine', policies: [] });
      export const lost = defineAgent({ slug: 'lost', name: 'Lost', systemPrompt: 'x' });`,
  });
  const roles = [{ slug: 'clerk', name: 'Clerk', policies: [] }];
  expect(await pull({ agents: [agent('helper')], roles }, { force: true })).toEqual(
    expect.arrayContaining([
      {
        kind: 'agents',
        slug: 'helper',
        file: 'agents/helper.ts',
        outcome: 'kept',
        reason: 'the file exists and cannot be read',
      },
      {
        kind: 'roles',
        slug: 'clerk',
        file: 'roles/both.ts',
        outcome: 'kept',
        reason: 'another definition in the file cannot be read',
      },
    ]),
  );
  expect(read('agents/helper.ts')).toBe('export default {{{');
});

test('a definition whose name ends like a test or declaration file gets a file name that push reads', async () => {
  const remote = { tools: [tool('shop.test'), tool('shop.d')] };
  await pull(remote);
  expect(readdirSync(join(folder, 'tools')).sort()).toEqual(['shop-d.ts', 'shop-test.ts']);
  expect((await pull(remote)).map(({ outcome }) => outcome)).toEqual(['unchanged', 'unchanged']);
});
