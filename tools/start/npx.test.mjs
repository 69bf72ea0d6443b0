import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { root } from './paths.mjs';

const folder = mkdtempSync(join(tmpdir(), 'parley-npx-'));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** A registry that has the package `parley` of a third party, as the public one does. */
const asked = [];
const registry = createServer((request, response) => {
  asked.push(request.url);
  const manifest = {
    name: 'parley',
    version: '9.9.9',
    bin: { parley: 'main.js' },
    dist: { tarball: 'http://0.0.0.0/' },
  };
  response.setHeader('Content-Type', 'application/json');
  response.end(
    JSON.stringify({
      name: 'parley',
      'dist-tags': { latest: '9.9.9' },
      versions: { '9.9.9': manifest },
    }),
  );
});
before(() => new Promise((listening) => registry.listen(0, '127.0.0.1', listening)));
after(() => {
  registry.close();
  registry.closeAllConnections();
  rmSync(folder, { recursive: true });
});

const npx = (cwd, ...args) =>
  new Promise((done) => {
    const env = {
      ...process.env,
      npm_config_registry: `http://127.0.0.1:${registry.address().port}/`,
      npm_config_cache: join(folder, 'cache'),
      npm_config_update_notifier: 'false',
      npm_config_fetch_retries: '0',
      npm_config_loglevel: 'error', // npm test --silent sets it
    };
    execFile('npx', args, { cwd, env }, (error, stdout, stderr) =>
      done({ code: error?.code ?? 0, stdout, stderr }),
    );
  });

test('npx parley in a checkout runs the command of the checkout and does not ask the registry', async () => {
  for (const cwd of [root, join(root, 'apps', 'cli', 'src')]) {
    const { code, stdout, stderr } = await npx(cwd, 'parley', '--version');
    assert.deepEqual([code, stdout, asked], [0, `${version}\n`, []], stderr);
  }
});

test('npx parley in a checkout without packages fails and does not ask the registry', async () => {
  const clone = join(folder, 'clone');
  mkdirSync(join(clone, 'tools'), { recursive: true });
  for (const file of [
    'package.json',
    'package-lock.json',
    '.npmrc',
    'tools/package.json',
    'tools/parley.mjs',
  ])
    cpSync(join(root, file), join(clone, file));
  const { code, stderr } = await npx(clone, 'parley', '--version');
  assert.notEqual(code, 0);
  assert.match(stderr, /could not determine executable to run/);
  assert.deepEqual(asked, []);
});

test('the registry of these tests answers npx elsewhere', async () => {
  mkdirSync(join(folder, 'elsewhere'));
  await npx(join(folder, 'elsewhere'), 'parley', '--version');
  assert.ok(asked.includes('/parley'));
});
