import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { Failure } from '../failure';
import { copyOwnPackages } from '../init/own-packages';
import { template } from '../init/template';
import { version } from '../version';
import { note, print, printJson } from '../terminal';

export interface InitOptions {
  force?: boolean;
  json?: boolean;
}

/** `parley init [folder]`: a project with a sample of each kind, which runs as it is. */
export async function runInit(folder: string, { force, json }: InitOptions): Promise<void> {
  const root = resolve(folder);
  const files = template(packageName(basename(root)), version);
  const there = Object.keys(files).filter((name) => existsSync(join(root, name)));
  if (there.length > 0 && !force)
    throw new Failure(`${folder} has ${there.join(', ')} already; --force writes them anew`);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), content);
  }
  const hasPackages = copyOwnPackages(root, version);
  const pack = `node tools/pack.mjs --out ${quoted(join(root, 'packages'))} cli definitions`;
  const next = [
    ...(hasPackages ? [] : [`${pack}   # in a checkout of Parley; or copy these two files there`]),
    ...(folder === '.' ? [] : [`cd ${quoted(folder)}`]),
    'cp .env.example .env   # and fill it in',
    'npm install',
    'npx parley dev',
  ];
  if (json) return printJson({ folder: root, files: Object.keys(files), next });
  for (const name of Object.keys(files)) print(`  + ${name}`);
  note(['Next:', ...next].join('\n  '));
}

const quoted = (path: string): string => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`);

/** A name that npm takes. */
const packageName = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '') || 'parley-project';
