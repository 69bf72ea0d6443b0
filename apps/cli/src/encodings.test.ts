import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadFolder } from './push/load-folder';
import { type Cli, openCli, runCommand } from './testing/run-command';

/*
 * Files as editors and Git on Windows write them: with a byte order mark, in UTF-16, or with CRLF.
 */

let cli: Cli;
beforeAll(() => void (cli = openCli()));
afterAll(() => cli.remove());

const mark = '\uFEFF';
const utf16 = (text: string) => Buffer.from(`${mark}${text}`, 'utf16le');

/** A project with one agent, whose prompt is a file. */
function project(name: string, files: Record<string, string | Buffer>): string {
  const folder = join(cli.folder, name);
  const agent = `import { defineAgent } from '@parley/definitions';
import prompt from '../prompts/a.md';
export default defineAgent({ slug: 'a', name: 'A', systemPrompt: prompt, model: 'scripted/shop' });`;
  const all = { 'agents/a.ts': agent, 'prompts/a.md': 'One.\nTwo.\n', ...files };
  for (const [path, content] of Object.entries(all)) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

const promptOf = async (folder: string) =>
  (await loadFolder(folder)).resources.agents?.map(({ systemPrompt }) => systemPrompt);

test('a prompt has the same lines whatever their ends in the checkout are', async () => {
  const unix = await promptOf(project('unix', {}));
  expect(unix).toEqual(['One.\nTwo.\n']);
  expect(await promptOf(project('windows', { 'prompts/a.md': 'One.\r\nTwo.\r\n' }))).toEqual(unix);
  expect(await promptOf(project('marked', { 'prompts/a.md': `${mark}One.\nTwo.\n` }))).toEqual(
    unix,
  );
});

test.each([
  ['prompts/a.md', utf16('One.\n')],
  ['agents/a.ts', utf16('export default {};\n')],
  ['agents/b.json', utf16('{}')],
  ['prompts/a.md', Buffer.from([0x4f, 0xe9, 0x0a])],
])('%s in another encoding is named, with what to do', async (path, content) => {
  const { problems } = await loadFolder(project(`other-${content.length}`, { [path]: content }));
  expect(problems).toEqual([
    expect.stringMatching(new RegExp(`${path}.*UTF-(16|8).*Save it in UTF-8`)),
  ]);
});

test('a JSON definition may begin with a byte order mark', async () => {
  const agent = { slug: 'b', name: 'B', systemPrompt: 'B.', model: 'scripted/shop' };
  const folder = project('json', { 'agents/b.json': `${mark}${JSON.stringify(agent)}` });
  const { resources, problems } = await loadFolder(folder);
  expect(problems).toEqual([]);
  expect(resources.agents?.map(({ slug }) => slug)).toContain('b');
});

describe('.env', () => {
  const list = (folder: string) => runCommand(['threads', 'list'], { cwd: folder });

  test('with a byte order mark names its first variable', async () => {
    const folder = project('env-mark', {
      '.env': `${mark}PARLEY_URL=http://127.0.0.1:1\r\nPARLEY_API_KEY=sk_dev_x\r\n`,
    });
    // The request goes to that address, not to a stack that runs here.
    expect((await list(folder)).stderr).toContain('127.0.0.1:1');
  });

  test('in UTF-16 is an error, and no request is sent to another server', async () => {
    const folder = project('env-utf16', { '.env': utf16('PARLEY_URL=http://127.0.0.1:1\n') });
    const { exitCode, stderr } = await list(folder);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('.env is in UTF-16 or no text. Save it in UTF-8');
  });

  test('that cannot be read is an error', async () => {
    const folder = project('env-folder', { '.env/x': '' });
    expect((await list(folder)).stderr).toContain('.env cannot be read (EISDIR)');
  });
});
