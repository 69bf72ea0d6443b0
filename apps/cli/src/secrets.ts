import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type SecretBox, createSecretBox } from '@parley/db';
import { findStack, readVariable } from './environment';
import { Failure } from './failure';

/**
 * A variable that the services have too: the environment's, else what the development stack was given or has made for
 * itself (`npm start`). A database that is not the stack's belongs to other services, whose settings nobody knows here.
 */
export const findSecret = (name: string): string | undefined => readVariable(name) ?? stackSettings()[name];

/** The secrets in a variable, which holds several while one is being replaced. The first is the one to sign with. */
export const findSecrets = (name: string): string[] => (findSecret(name) ?? '').split(/[\s,]+/).filter(Boolean);

/** What secrets of integrations are sealed with. */
export function openSecretBox(): SecretBox {
  const key = findSecret('SECRETS_KEY');
  if (key === undefined) throw new Failure('SECRETS_KEY is not set: it must be the one that the services have');
  return createSecretBox(key);
}

function stackSettings(): Record<string, string | undefined> {
  const stack = findStack();
  const database = readVariable('DATABASE_URL');
  if (stack !== null) return database === undefined || database === stack.databaseUrl ? (stack.env ?? {}) : {};
  return database === undefined ? madeSecrets() : {};
}

/** Of a stack that does not run now. */
function madeSecrets(): Record<string, string | undefined> {
  const folders = [resolve(__dirname, '../../..')];
  for (let folder = process.cwd(); ; folder = dirname(folder)) {
    folders.splice(-1, 0, folder);
    if (dirname(folder) === folder) break;
  }
  const file = folders.map((folder) => join(folder, '.parley', 'secrets.json')).find((path) => existsSync(path));
  return file === undefined ? {} : (JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>);
}
