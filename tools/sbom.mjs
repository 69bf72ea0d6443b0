// node tools/sbom.mjs > sbom.json: prints the bill of materials of the shipped packages
// (CycloneDX). `npm sbom --omit dev` also omits shipped packages that development uses, so all
// packages are listed and filtered by the lock file.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './start/paths.mjs';

const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
const shipped = new Set();
for (const [path, { name, version, dev }] of Object.entries(packages))
  if (!dev) shipped.add(`${name ?? path.slice(path.lastIndexOf('node_modules/') + 13)}@${version}`);

const bill = JSON.parse(
  execFileSync('npm', ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'ignore'],
  }),
);
const isShipped = (reference) => shipped.has(reference.replace(/\|.*$/, ''));
console.log(
  JSON.stringify(
    {
      ...bill,
      components: bill.components.filter((component) => isShipped(component['bom-ref'])),
      dependencies: bill.dependencies
        .filter(({ ref }) => isShipped(ref))
        .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(isShipped) })),
    },
    null,
    2,
  ),
);
