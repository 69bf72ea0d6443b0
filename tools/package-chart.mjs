// node tools/package-chart.mjs <folder> <version> <registry> <app>=<digest>…: packages the Helm
// chart of a release, whose default images are those of the registry with these digests. Uses no
// packages, because the job that runs it may sign.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Problem, print, runMain } from './start/output.mjs';
import { root } from './start/paths.mjs';

/**
 * @param {{ folder: string, version: string, registry: string, digests: Record<string, string>,
 *   helm?: string }} options digests by app
 * @returns {string} the path of the package
 */
export function packageChart({ folder, version, registry, digests, helm = 'helm' }) {
  const work = mkdtempSync(join(tmpdir(), 'parley-chart-'));
  try {
    const copy = join(work, 'parley');
    cpSync(join(root, 'k8s', 'helm', 'parley'), copy, { recursive: true });
    const file = join(copy, 'values.yaml');
    writeFileSync(file, releaseValues(readFileSync(file, 'utf8'), registry, digests));
    const args = [
      'package',
      copy,
      '--destination',
      folder,
      '--version',
      version,
      '--app-version',
      version,
    ];
    execFileSync(helm, args, { encoding: 'utf8' });
    return join(folder, `parley-${version}.tgz`);
  } finally {
    rmSync(work, { recursive: true });
  }
}

/** Sets the registry and the digests, and keeps all other lines with their comments. */
function releaseValues(text, registry, digests) {
  const [, before, block, after] = /^([^]*\n {2}digests:\n)([^]*?\n)(\n[^]*)$/.exec(text);
  const names = [...block.matchAll(/^ {4}(\w+): ''$/gm)].map(([, name]) => name);
  const byName = Object.fromEntries(
    Object.entries(digests).map(([app, digest]) => [camelCase(app), digest]),
  );
  const isComplete = names.every((name) => /^sha256:[0-9a-f]{64}$/.test(byName[name]));
  if (!isComplete || Object.keys(byName).length !== names.length)
    throw new Problem(
      `A digest is required for each of ${names.join(', ')}; found ${JSON.stringify(byName)}.`,
    );
  return [
    before.replace(/^ {2}registry: .*$/m, `  registry: ${registry}`),
    block.replace(/^ {4}(\w+): ''$/gm, (_, name) => `    ${name}: ${byName[name]}`),
    after,
  ].join('');
}

const camelCase = (name) => name.replace(/-(\w)/g, (_, letter) => letter.toUpperCase());

if (process.argv[1] === import.meta.filename)
  await runMain(() => {
    const [folder, version, registry, ...pairs] = process.argv.slice(2);
    if (pairs.length === 0)
      throw new Problem(
        'Usage: node tools/package-chart.mjs <folder> <version> <registry> <app>=<digest>…',
      );
    const digests = Object.fromEntries(pairs.map((pair) => pair.split('=')));
    print(packageChart({ folder, version, registry, digests }));
  });
