import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import type { Environment } from '@parley/contracts';
import { io, pathOf } from './command-io';
import { Failure } from './failure';
import { readTextFile } from './read-text-file';

/** The running stack as `npm start` describes it in `.parley/stack.json`. */
export interface Stack {
  gatewayUrl: string;
  databaseUrl: string;
  redisUrl?: string;
  services?: Record<string, { url?: string; internalUrl?: string; internalPort?: number }>;
  key: string | null;
  /** Environment variables of its services that commands need too. */
  env?: Record<string, string | undefined>;
}

/**
 * Reads NAME, or the file that NAME_FILE names, as the services do; then NAME in `.env` of the
 * working directory.
 */
export function readVariable(name: string): string | undefined {
  const { env } = io();
  const file = env[`${name}_FILE`];
  if (env[name] || !file) return env[name] || dotEnv()[name] || undefined;
  const read = readTextFile(pathOf(file));
  if (!read.ok) throw new Failure(`${file}, which ${name}_FILE names, ${read.problem}`);
  return read.text.trim() || undefined;
}

/**
 * The project's settings. The environment takes precedence over them. A file that cannot be read is
 * an error: without its settings a command would use another server.
 */
function dotEnv(): Record<string, string | undefined> {
  const path = pathOf('.env');
  if (!existsSync(path)) return {};
  const file = readTextFile(path);
  if (!file.ok) throw new Failure(`.env ${file.problem}`);
  return parseEnv(file.text);
}

/** Whether commands can use the database. */
export const hasDatabase = (): boolean =>
  (readVariable('DATABASE_URL') ?? findStack()?.databaseUrl) !== undefined;

/** DATABASE_URL; defaults to the database of the running development stack. */
export function databaseUrl(): string {
  const url = readVariable('DATABASE_URL') ?? findStack()?.databaseUrl;
  if (url === undefined)
    throw new Failure(
      'DATABASE_URL is not set. Set it in the environment or in .env, or run npm start in a checkout of Parley',
    );
  if (!/^postgres(ql)?:\/\//.test(url))
    throw new Failure('DATABASE_URL must be a postgres:// address');
  return url;
}

export interface Address {
  url: string;
  key: string;
}

const noUrl =
  'PARLEY_URL is not set. Set it in the environment or in .env, or run npm start in a checkout of Parley';

/**
 * The address of the HTTP API: PARLEY_URL, by default of the running stack, then of `parley login`.
 */
export function apiUrl(given = readVariable('PARLEY_URL')): string {
  const url = given ?? findStack()?.gatewayUrl ?? readLogin()?.url;
  if (url === undefined) throw new Failure(noUrl);
  if (!/^https?:\/\//.test(url)) throw new Failure('PARLEY_URL must be an http or https address');
  return url.replace(/\/+$/, '');
}

/**
 * The address and key of the HTTP API: PARLEY_URL and PARLEY_API_KEY, by default of the running
 * stack, then of `parley login`.
 */
export function apiAddress(): Address {
  const url = apiUrl();
  const stack = findStack();
  // A key is sent only to the address that it belongs to, never to another address in PARLEY_URL.
  const known = [stack && { url: stack.gatewayUrl, key: stack.key }, readLogin()];
  const key = readVariable('PARLEY_API_KEY') ?? known.find((one) => one?.url === url)?.key;
  if (!key) throw new Failure('PARLEY_API_KEY is not set. Create a key with: parley keys create');
  return { url, key };
}

function loginFile(): string {
  const folder = io().env.XDG_CONFIG_HOME;
  return join(
    folder && isAbsolute(folder) ? folder : join(homedir(), '.config'),
    'parley',
    'login.json',
  );
}

/** What `parley login` stored, or null. */
export function readLogin(): Address | null {
  const file = loginFile();
  if (!existsSync(file)) return null;
  try {
    const { url, key } = JSON.parse(readFileSync(file, 'utf8')) as Address;
    return { url, key };
  } catch {
    throw new Failure(`${file} cannot be read. Delete it and run parley login again`);
  }
}

/**
 * Stores an address and its key where only the user can read them; null deletes them. Returns the
 * path of the file.
 */
export function storeLogin(login: Address | null): string {
  const file = loginFile();
  if (login === null) rmSync(file, { force: true });
  else {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    // The mode applies to new files only, so an existing file is replaced.
    const written = `${file}.${process.pid}`;
    writeFileSync(written, `${JSON.stringify(login)}\n`, { mode: 0o600 });
    renameSync(written, file);
  }
  return file;
}

/** The environment that a key belongs to. */
export const environmentOf = (key: string): Environment =>
  key.startsWith('sk_prod_') ? 'production' : 'development';

/**
 * The address and key that commands in this folder use, if both are known and the key is
 * one of development.
 */
export function developmentAddress(): Address | null {
  try {
    const address = apiAddress();
    return address.key.startsWith('sk_dev_') ? address : null;
  } catch (error) {
    if (error instanceof Failure) return null;
    throw error;
  }
}

/**
 * The address and key for production: PARLEY_PRODUCTION_URL, which defaults to PARLEY_URL, and
 * PARLEY_PRODUCTION_API_KEY, which defaults to PARLEY_API_KEY when that is a production key.
 */
export function productionAddress(): Address {
  const given = readVariable('PARLEY_PRODUCTION_API_KEY');
  const key = given ?? readVariable('PARLEY_API_KEY');
  if (!key?.startsWith('sk_prod_')) {
    const problem =
      given === undefined
        ? 'is not set'
        : given.startsWith('sk_dev_')
          ? 'is a key for development'
          : 'is not a production key, which begins with sk_prod_';
    throw new Failure(
      `PARLEY_PRODUCTION_API_KEY ${problem}. Create a key with: parley keys create --env production --permissions sync --name deploy`,
    );
  }
  const url =
    readVariable('PARLEY_PRODUCTION_URL') ?? readVariable('PARLEY_URL') ?? findStack()?.gatewayUrl;
  if (url === undefined)
    throw new Failure('PARLEY_PRODUCTION_URL is not set. Set it to the address of the gateway');
  if (!/^https?:\/\//.test(url))
    throw new Failure('PARLEY_PRODUCTION_URL must be an http or https address');
  return { url: url.replace(/\/+$/, ''), key };
}

/**
 * The stack that runs in the working directory, one of its parents, or the checkout that this
 * bundle was built in.
 */
export const findStack = (): Stack | null => readState<Stack>('stack.json');

/** Reads a file that `npm start` writes to `.parley`, or returns null when there is none. */
export function readState<T>(name: string): T | null {
  const file = findState(name);
  if (file === null) return null;
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch {
    throw new Failure(`${file} is not valid JSON. Stop npm start and start it again`);
  }
}

/** The path of a file or folder in `.parley`, or null when there is none. */
export function findState(name: string): string | null {
  const folders = [resolve(__dirname, '../../..')];
  for (let folder = io().cwd; ; folder = dirname(folder)) {
    folders.splice(-1, 0, folder);
    if (dirname(folder) === folder) break;
  }
  return (
    folders.map((folder) => join(folder, '.parley', name)).find((path) => existsSync(path)) ?? null
  );
}

/**
 * The values of all variables that may be secret, whole and in parts: of the environment,
 * `.env` and the stack.
 */
export function secretValues(): string[] {
  const stack = findStack();
  const login = { LOGIN_KEY: readLogin()?.key };
  const sources = [
    io().env,
    dotEnv(),
    readState<Record<string, string>>('secrets.json'),
    stack?.env,
    login,
  ];
  const values = sources.flatMap((source) =>
    Object.entries(source ?? {}).flatMap(([name, value]) =>
      value && /KEY|SECRET|TOKEN|PASSWORD|_URL$/.test(name.replace(/_FILE$/, ''))
        ? secretsIn(name, value)
        : [],
    ),
  );
  return [
    ...values,
    ...(stack?.key ? [stack.key] : []),
    ...(stack === null ? [] : [stack.databaseUrl]),
  ];
}

/**
 * The value of a variable, or of the file that NAME_FILE names, and the parts of a list
 * such as `new,old`.
 */
function secretsIn(name: string, value: string): string[] {
  try {
    const text = name.endsWith('_FILE') ? readFileSync(pathOf(value), 'utf8').trim() : value;
    return [text, ...text.split(/[\s,]+/)];
  } catch {
    return []; // a file that this account cannot read
  }
}

/**
 * The folder of the migrations: beside the bundle in an image or package, in the
 * repository for a checkout.
 */
export function migrationsDir(): string {
  // The working directory is not searched: it may be a project with migrations of another database.
  const candidates = [
    join(__dirname, 'prisma/migrations'),
    resolve(__dirname, '../../../prisma/migrations'),
  ];
  const found = candidates.find((path) => existsSync(path));
  if (found === undefined) throw new Failure(`No migrations found in ${candidates.join(' or ')}`);
  return found;
}
