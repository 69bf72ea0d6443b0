import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './start/paths.mjs';

const folderOfPackage = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//;

/**
 * Lists the packages of bundled files, once for each version.
 * @param {string[]} inputs paths relative to the root, as in esbuild's metafile
 * @returns {{ name: string, version: string, license: string, path: string }[]}
 */
export function listPackages(inputs) {
  const folders = new Set(inputs.map((input) => folderOfPackage.exec(input)?.[1]).filter(Boolean));
  const found = new Map();
  for (const path of folders) {
    const { name, version, license, licenses } = JSON.parse(
      readFileSync(join(root, path, 'package.json'), 'utf8'),
    );
    const named = license ?? licenses?.map?.((entry) => entry.type).join(' OR ') ?? 'UNKNOWN';
    found.set(`${name}@${version}`, { name, version, license: named.type ?? named, path });
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The licence texts that must accompany copies of these packages. */
export function thirdPartyNotices(packages) {
  return packages
    .map(({ name, version, license, path }) => {
      const folder = join(root, path);
      const files = existsSync(folder)
        ? readdirSync(folder).filter((file) => /^(licen[cs]e|notice)/i.test(file))
        : [];
      const texts = files.sort().map((file) => readFileSync(join(folder, file), 'utf8').trim());
      return [`${name} ${version} (${license})`, ...texts].join('\n\n');
    })
    .join(`\n\n${'-'.repeat(80)}\n\n`);
}
