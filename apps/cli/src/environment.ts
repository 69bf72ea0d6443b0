import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { Failure } from './failure';

/** What `npm start` tells of the stack that it runs, in `.parley/stack.json`. */
export interface Stack {
  gatewayUrl: string;
  databaseUrl: string;
  redisUrl?: string;
  services?: Record<string, { url?: string; internalUrl?: string; internalPort?: number }>;
  key: string | null;
  /** Variables that its services have and a command may need. */
  env?: Record<string, string | undefined>;
}

/** A variable, or the content of the file that NAME_FILE names, as the services read them; else that of `.env`. */
export function readVariable(name: string): string | undefined {
  const file = process.env[`${name}_FILE`];
  if (process.env[name] || !file) return process.env[name] || dotEnv()[name] || undefined;
  try {
    return readFileSync(file, 'utf8').trim() || undefined;
  } catch {
    throw new Failure(`${name}_FILE: cannot read ${file}`);
  }
}

/** A project's own settings, in its folder; the environment goes before them. */
function dotEnv(): Record<string, string | undefined> {
  const file = join(process.cwd(), '.env');
  return existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {};
}

/** The database of DATABASE_URL, else of the running development stack. */
export function databaseUrl(): string {
  const url = readVariable('DATABASE_URL') ?? findStack()?.databaseUrl;
  if (url === undefined)
    throw new Failure(
      'DATABASE_URL is not set: set it, or write it into .env of this folder; in a checkout npm start runs a stack',
    );
  if (!/^postgres(ql)?:\/\//.test(url)) throw new Failure('DATABASE_URL must be a postgres:// address');
  return url;
}

export const noAddress =
  'PARLEY_URL is not set: set it, or write it into .env of this folder; in a checkout npm start runs a stack';

/** Where the HTTP interface is and the key for it: PARLEY_URL and PARLEY_API_KEY, else the running stack's. */
export function apiAddress(): { url: string; key: string } {
  const givenUrl = readVariable('PARLEY_URL');
  const givenKey = readVariable('PARLEY_API_KEY');
  const stack = findStack();
  const url = givenUrl ?? stack?.gatewayUrl;
  if (url === undefined) throw new Failure(noAddress);
  if (!/^https?:\/\//.test(url)) throw new Failure('PARLEY_URL must be an http or https address');
  // The stack's key is never sent to an address that somebody else has named.
  const key = givenKey ?? (givenUrl === undefined || givenUrl === stack?.gatewayUrl ? stack?.key : undefined);
  if (!key) throw new Failure('PARLEY_API_KEY is not set; make a key with: parley keys create');
  return { url: url.replace(/\/+$/, ''), key };
}

/**
 * Where production is: PARLEY_PRODUCTION_URL, else PARLEY_URL; the key is that of PARLEY_PRODUCTION_API_KEY, else of
 * PARLEY_API_KEY when it is one of production.
 */
export function productionAddress(): { url: string; key: string } {
  const given = readVariable('PARLEY_PRODUCTION_API_KEY');
  const key = given ?? readVariable('PARLEY_API_KEY');
  if (!key?.startsWith('sk_prod_')) {
    const problem =
      given === undefined
        ? 'is not set'
        : given.startsWith('sk_dev_')
          ? 'is a key of development'
          : 'is no key of production, which begins with sk_prod_';
    throw new Failure(
      `PARLEY_PRODUCTION_API_KEY ${problem}; make a key with: parley keys create --env production --permissions sync --name deploy`,
    );
  }
  const url = readVariable('PARLEY_PRODUCTION_URL') ?? readVariable('PARLEY_URL') ?? findStack()?.gatewayUrl;
  if (url === undefined) throw new Failure('PARLEY_PRODUCTION_URL is not set');
  if (!/^https?:\/\//.test(url)) throw new Failure('PARLEY_PRODUCTION_URL must be an http or https address');
  return { url: url.replace(/\/+$/, ''), key };
}

/** Looks upwards from the working directory, then beside the checkout that this bundle was built in. */
export function findStack(): Stack | null {
  const folders = [resolve(__dirname, '../../..')];
  for (let folder = process.cwd(); ; folder = dirname(folder)) {
    folders.splice(-1, 0, folder);
    if (dirname(folder) === folder) break;
  }
  const file = folders.map((folder) => join(folder, '.parley', 'stack.json')).find((path) => existsSync(path));
  if (file === undefined) return null;
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Stack;
  } catch {
    throw new Failure(`Cannot read ${file}`);
  }
}

/** The repository's migrations: beside the bundle in an image, in the checkout elsewhere. */
export function migrationsDir(): string {
  // Never of the working directory: that may be a project with a database of its own.
  const candidates = [join(__dirname, 'prisma/migrations'), resolve(__dirname, '../../../prisma/migrations')];
  const found = candidates.find((path) => existsSync(path));
  if (found === undefined) throw new Failure(`No migrations found in ${candidates.join(' or ')}`);
  return found;
}
