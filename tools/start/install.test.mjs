import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { installPackages } from './install.mjs';
import { root } from './paths.mjs';

const folder = mkdtempSync(join(tmpdir(), 'parley-install-'));
after(() => rmSync(folder, { recursive: true }));

/** Packs a package whose install script writes the file `ran`. */
function pack(name) {
  const source = join(folder, `source-${name}`);
  mkdirSync(source);
  const scripts = { postinstall: `node -e "require('fs').writeFileSync('ran', '')"` };
  writeFileSync(join(source, 'package.json'), JSON.stringify({ name, version: '1.0.0', scripts }));
  execFileSync('npm', ['pack', source, '--silent', '--pack-destination', folder], { cwd: folder });
  return `file:../${name}-1.0.0.tgz`;
}

/**
 * A project with the settings of this repository, whose package.json names one of two packages with
 * install scripts.
 */
function createProject(name) {
  const project = join(folder, name);
  mkdirSync(project);
  cpSync(join(root, '.npmrc'), join(project, '.npmrc'));
  const manifest = {
    name,
    version: '1.0.0',
    private: true,
    dependencies,
    allowScripts: { named: true, denied: false },
  };
  writeFileSync(join(project, 'package.json'), JSON.stringify(manifest));
  execFileSync('npm', ['install', '--package-lock-only', '--offline', '--no-audit'], {
    cwd: project,
    stdio: 'ignore',
  });
  return project;
}

const dependencies = { named: pack('named'), denied: pack('denied'), unlisted: pack('unlisted') };
const ran = (project) =>
  Object.keys(dependencies).filter((name) =>
    existsSync(join(project, 'node_modules', name, 'ran')),
  );

test(
  'only the packages that package.json names run install scripts',
  { timeout: 120_000 },
  async () => {
    const project = createProject('start');
    await installPackages(project);
    assert.deepEqual(ran(project), ['named']);
  },
);

test('npm install by hand runs no install script', { timeout: 120_000 }, () => {
  const project = createProject('by-hand');
  execFileSync('npm', ['install', '--offline', '--no-audit'], { cwd: project, stdio: 'ignore' });
  assert.deepEqual(ran(project), []);
});
