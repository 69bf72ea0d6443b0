import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { io, pathOf } from '../command-io';
import { developmentAddress } from '../environment';
import { Failure, exitCodes } from '../failure';
import { copyPackages, packPackages } from '../init/copy-packages';
import { runInstallation } from '../init/run-installation';
import { defaultUrl, settingsFile, template } from '../init/template';
import { loadFolder } from '../push/load-folder';
import { safeText } from '../safe-text';
import { declarationFile, projectFile } from '../types/declaration-file';
import { version } from '../version';
import { colors, formatDuration, note, print, printJson } from '../terminal';

export interface InitOptions {
  force?: boolean;
  install?: boolean;
  json?: boolean;
}

/**
 * `parley init [folder]`: creates a project with an example of each kind of definition, connects it
 * to the running stack and installs its packages.
 */
export async function runInit(
  folder: string,
  { force, install = true, json }: InitOptions,
): Promise<void> {
  const root = pathOf(folder);
  const files = template(packageName(basename(root)), version);
  const existing = [...Object.keys(files), projectFile].filter((name) =>
    existsSync(join(root, name)),
  );
  if (existing.length > 0 && !force)
    throw new Failure(
      `${folder} already has ${existing.join(', ')}. Use --force to overwrite them`,
    );
  const address = developmentAddress();
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), content);
    if (!json) print(`  + ${name}`);
  }
  // `dev` writes the file again when a definition changes.
  const { resources } = await loadFolder(root);
  writeFileSync(join(root, projectFile), declarationFile(resources));
  if (!json) print(`  + ${projectFile}`);
  const settings = writeSettings(join(root, '.env'), address);
  if (!json)
    print(settings === 'kept' ? '    .env already exists and was not changed' : '  + .env');

  const hasPackages =
    copyPackages(root, version) ||
    (await inSteps('Packing the packages of this checkout', () => packPackages(root)));
  const installed =
    hasPackages &&
    install &&
    (await inSteps('Installing (npm install)', () => runInstallation(root)));

  const next = [
    ...(hasPackages
      ? []
      : [
          `node tools/pack.mjs --out ${quoted(join(root, 'packages'))} cli definitions   # in a checkout of Parley`,
        ]),
    [
      ...(folder === '.' ? [] : [`cd ${quoted(folder)}`]),
      ...(installed ? [] : ['npm install']),
      'npx parley dev',
    ].join(' && '),
  ];
  const connected = settings === 'connected' && address !== null ? address.url : null;
  if (json)
    return printJson({
      folder: root,
      files: [...Object.keys(files), projectFile, '.env'],
      connected,
      installed,
      next,
    });
  note('');
  if (connected !== null)
    note(`The project is connected to ${connected} (${quoted(join(folder, '.env'))}).`);
  else if (settings === 'empty')
    note(
      `Start Parley and enter its address and a development key in ${quoted(join(folder, '.env'))} (parley keys create).`,
    );
  note(`Next:\n\n  ${next.map((line) => colors.bold(line)).join('\n  ')}\n`);
}

/** Creates `.env`, which only its owner may read. An existing one is kept. */
function writeSettings(
  file: string,
  address: { url: string; key: string } | null,
): 'kept' | 'connected' | 'empty' {
  if (existsSync(file)) return 'kept';
  writeFileSync(file, settingsFile(address?.url ?? defaultUrl, address?.key ?? ''), {
    mode: 0o600,
  });
  return address === null ? 'empty' : 'connected';
}

/**
 * Runs a step of some seconds. A failure is printed and sets the status; the files stay. Null:
 * there is nothing to do.
 */
async function inSteps(title: string, work: () => Promise<void> | null): Promise<boolean> {
  const running = work();
  if (running === null) return false;
  const startedAt = Date.now();
  note(`${colors.dim('…')} ${title}`);
  try {
    await running;
    note(`${colors.green('✓')} ${title} ${colors.dim(formatDuration(Date.now() - startedAt))}`);
    return true;
  } catch (error) {
    io().exitCode = exitCodes.failure;
    note(`${colors.red('✗')} ${title}: ${safeText((error as Error).message)}`);
    return false;
  }
}

const quoted = (path: string): string =>
  /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;

/** Turns the folder's name into a valid npm package name. */
const packageName = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '') || 'parley-project';
