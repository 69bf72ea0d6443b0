import { text } from 'node:stream/consumers';
import {
  type Db,
  type SealedValue,
  type SecretBox,
  createSecretBox,
  sealedIntegrations,
} from '@parley/db';
import { sealedPublishableKeys } from '@parley/identity';
import { sealedToolSecrets } from '@parley/tools';
import { io } from './command-io';
import { findStack, readState, readVariable } from './environment';
import { Failure, usageFailure } from './failure';
import { canAsk } from './terminal';

/**
 * Reads a variable that the services use too: from the environment, or from the settings of the
 * development stack (`npm start`). The stack's settings are ignored when DATABASE_URL names another
 * database, whose services may have others.
 */
export const findSecret = (name: string): string | undefined =>
  readVariable(name) ?? stackSettings()[name];

/**
 * The secrets in a variable, which lists several while one is being replaced. The first is
 * used for signing.
 */
export const findSecrets = (name: string): string[] =>
  (findSecret(name) ?? '').split(/[\s,]+/).filter(Boolean);

/**
 * Secrets on a command line remain in the shell's history, so `-` reads one from standard input.
 */
export const secretOf = async <T extends string | undefined>(argument: T): Promise<string | T> =>
  argument === '-' ? (await text(io().stdin)).trim() : argument;

/**
 * Reads a secret that has no place among arguments, because arguments remain in the shell's history
 * and other users see them: from standard input when `source` is `-`, else a terminal asks.
 */
export async function askSecret(
  source: string | undefined,
  question: string,
  usage: string,
): Promise<string> {
  if (source !== undefined && source !== '-')
    throw usageFailure(
      `A secret is not accepted as an argument. Pass it on standard input: ${usage}`,
    );
  if (source === '-') {
    const value = await secretOf(source);
    if (value === '') throw usageFailure('Standard input has no value');
    return value;
  }
  if (!canAsk())
    throw usageFailure(
      `Cannot ask for the value without a terminal. Pass it on standard input: ${usage}`,
    );
  const { isCancel, password } = await import('@clack/prompts');
  const { stdin, stderr } = io();
  const value = await password({ message: question, input: stdin, output: stderr });
  if (isCancel(value) || !value) throw new Failure('Nothing was set');
  return value;
}

/** Encrypts and decrypts the secrets of integrations with SECRETS_KEY. */
export function openSecretBox(): SecretBox {
  const key = findSecret('SECRETS_KEY');
  if (key === undefined)
    throw new Failure('SECRETS_KEY is not set. Set it to the SECRETS_KEY of the services');
  return createSecretBox(key);
}

/** All secrets that are stored encrypted. */
export const sealedValues = async (db: Db): Promise<SealedValue[]> => [
  ...(await sealedIntegrations(db)),
  ...(await sealedToolSecrets(db)),
  ...(await sealedPublishableKeys(db)),
];

function stackSettings(): Record<string, string | undefined> {
  const stack = findStack();
  const database = readVariable('DATABASE_URL');
  if (stack !== null)
    return database === undefined || database === stack.databaseUrl ? (stack.env ?? {}) : {};
  // The stack is not running, but its secrets are stored.
  return (database === undefined && readState<Record<string, string>>('secrets.json')) || {};
}
