import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Problem } from './output.mjs';

/** A variable from the environment, or from the file that NAME_FILE names, as the services read them too. */
export function fromEnvironment(name) {
  const file = process.env[`${name}_FILE`];
  if (process.env[name] || !file) return process.env[name] || undefined;
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    throw new Problem(`${name}_FILE: cannot read ${file}`);
  }
}

/** SECRETS_KEY and EXECUTOR_TOKEN: the environment's, else made once and kept, as data is encrypted under them. */
export function loadSecrets(stateDir) {
  const file = join(stateDir, 'secrets.json');
  const kept = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const secrets = {
    SECRETS_KEY: kept.SECRETS_KEY ?? randomBytes(32).toString('base64'),
    EXECUTOR_TOKEN: kept.EXECUTOR_TOKEN ?? randomBytes(32).toString('base64url'),
  };
  writeFileSync(file, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 });
  return {
    SECRETS_KEY: fromEnvironment('SECRETS_KEY') ?? secrets.SECRETS_KEY,
    EXECUTOR_TOKEN: fromEnvironment('EXECUTOR_TOKEN') ?? secrets.EXECUTOR_TOKEN,
  };
}
