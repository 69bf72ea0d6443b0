import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { Failure } from '../failure';
import { copyPackages } from '../init/copy-packages';
import { template } from '../init/template';
import { version } from '../version';
import { note, print, printJson } from '../terminal';

export interface InitOptions {
  force?: boolean;
  json?: boolean;
}

/** `parley init [folder]`: creates a project with an example of each kind of definition. */
export async function runInit(folder: string, { force, json }: InitOptions): Promise<void> {
  const root = resolve(folder);
  const files = template(packageName(basename(root)), version);
  const existing = Object.keys(files).filter((name) => existsSync(join(root, name)));
  if (existing.length > 0 && !force)
    throw new Failure(`${folder} already has ${existing.join(', ')}. Use --force to overwrite them`);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), content);
  }
  const hasPackages = copyPackages(root, version);
  const pack = `node tools/pack.mjs --out ${quoted(join(root, 'packages'))} cli definitions`;
  const next = [
    ...(hasPackages ? [] : [`${pack}   # in a checkout of Parley, or copy the two package files`]),
    ...(folder === '.' ? [] : [`cd ${quoted(folder)}`]),
    'cp .env.example .env   # then enter the address and a key',
    'npm install',
    'npx parley dev',
  ];
  if (json) return printJson({ folder: root, files: Object.keys(files), next });
  for (const name of Object.keys(files)) print(`  + ${name}`);
  note(['Next steps:', ...next].join('\n  '));
}

const quoted = (path: string): string => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`);

/** Turns the folder's name into a valid npm package name. */
const packageName = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '') || 'parley-project';
