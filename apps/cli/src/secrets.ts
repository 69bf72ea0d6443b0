import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type SecretBox, createSecretBox } from '@parley/db';
import { readVariable } from './environment';
import { Failure } from './failure';

/** A secret of the environment, else the one that the development stack has made for itself (`npm start`). */
export const findSecret = (name: string): string | undefined => readVariable(name) ?? stackSecrets()[name];

/** What secrets of integrations are sealed with. */
export function openSecretBox(): SecretBox {
  const key = findSecret('SECRETS_KEY');
  if (key === undefined) throw new Failure('SECRETS_KEY is not set: it must be the one that the services have');
  return createSecretBox(key);
}

function stackSecrets(): Record<string, string | undefined> {
  const folders = [resolve(__dirname, '../../..')];
  for (let folder = process.cwd(); ; folder = dirname(folder)) {
    folders.splice(-1, 0, folder);
    if (dirname(folder) === folder) break;
  }
  const file = folders.map((folder) => join(folder, '.parley', 'secrets.json')).find((path) => existsSync(path));
  return file === undefined ? {} : (JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>);
}
