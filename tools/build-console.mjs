// node tools/build-console.mjs: builds the console into dist/apps/gateway/console, from where the
// gateway serves it.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { runMain, step } from './start/output.mjs';
import { root } from './start/paths.mjs';

const outputFolder = join(root, 'dist', 'apps', 'gateway', 'console');
const compressed = /\.(js|css|html|svg|webmanifest)$/;

/** Hash of what the console is built from. */
function hashOfSources() {
  const hash = createHash('sha256');
  const inFolders = ['apps/console', 'libs/client/src', 'libs/rows/src'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  const files = [...inFolders, join(root, 'package-lock.json'), import.meta.filename];
  for (const file of files.sort()) hash.update(relative(root, file)).update(readFileSync(file));
  return hash.digest('hex');
}

/**
 * Builds the console, with its files compressed, unless the folder has it already.
 * @returns {Promise<string[]>} the files that are part of it, relative to the root; empty when
 *   nothing was built
 */
export async function buildConsole(folder = outputFolder) {
  const marker = join(folder, '.sources');
  const hash = hashOfSources();
  if (existsSync(marker) && readFileSync(marker, 'utf8') === hash) return [];
  const { build } = await import('vite');
  const next = `${folder}.next`;
  const { NODE_ENV } = process.env;
  process.env.NODE_ENV = 'production'; // React has another bundle for each other value
  const { output } = await build({
    configFile: join(root, 'apps', 'console', 'vite.config.mjs'),
    mode: 'production',
    logLevel: 'warn',
    build: { outDir: next },
  });
  if (NODE_ENV === undefined) delete process.env.NODE_ENV;
  else process.env.NODE_ENV = NODE_ENV;
  for (const name of readdirSync(next, { recursive: true })) {
    if (!compressed.test(name)) continue;
    const file = join(next, name);
    const bytes = readFileSync(file);
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
    writeFileSync(
      `${file}.br`,
      brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }),
    );
  }
  writeFileSync(join(next, '.sources'), hash);
  rmSync(folder, { recursive: true, force: true });
  renameSync(next, folder);
  return [...new Set(output.flatMap(({ moduleIds = [] }) => moduleIds))]
    .filter((id) => id.startsWith(root))
    .map((id) => relative(root, id.replace(/\?.*/, '')));
}

if (import.meta.url === pathToFileURL(process.argv[1]).href)
  await runMain(async () => void (await step('Building the console', () => buildConsole())));
