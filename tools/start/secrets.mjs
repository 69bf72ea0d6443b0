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

/** Without them the doors of these providers refuse everything; `parley webhooks trigger` signs with them. */
const webhookSecrets = ['MESSAGING_WEBHOOK_SECRET', 'BILLING_WEBHOOK_SECRET', 'EMAIL_WEBHOOK_SECRET'];

/**
 * SECRETS_KEY, EXECUTOR_TOKEN and the secrets of webhooks: the environment's, else made once and kept, as data is
 * encrypted under the first.
 */
export function loadSecrets(stateDir) {
  const file = join(stateDir, 'secrets.json');
  const kept = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const secrets = {
    SECRETS_KEY: kept.SECRETS_KEY ?? randomBytes(32).toString('base64'),
    EXECUTOR_TOKEN: kept.EXECUTOR_TOKEN ?? randomBytes(32).toString('base64url'),
    ...Object.fromEntries(
      webhookSecrets.map((name) => [name, kept[name] ?? `whsec_${randomBytes(32).toString('base64')}`]),
    ),
  };
  writeFileSync(file, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 });
  return Object.fromEntries(Object.entries(secrets).map(([name, made]) => [name, fromEnvironment(name) ?? made]));
}
