import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Problem } from './output.mjs';

/** Reads NAME, or the file that NAME_FILE names, as the services do. */
export function fromEnvironment(name) {
  const file = process.env[`${name}_FILE`];
  if (process.env[name] || !file) return process.env[name] || undefined;
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    throw new Problem(`Cannot read ${file}, which ${name}_FILE names.`);
  }
}

/**
 * Without these secrets the webhook endpoints refuse all deliveries. `parley webhooks trigger`
 * signs with them.
 */
const webhookSecrets = [
  'MESSAGING_WEBHOOK_SECRET',
  'BILLING_WEBHOOK_SECRET',
  'EMAIL_WEBHOOK_SECRET',
];

/**
 * SECRETS_KEY, EXECUTOR_TOKEN and webhook secrets from the environment, or generated once and
 * stored: data is encrypted with SECRETS_KEY, so it must stay the same.
 */
export function loadSecrets(stateDir) {
  const file = join(stateDir, 'secrets.json');
  const stored = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const secrets = {
    SECRETS_KEY: stored.SECRETS_KEY ?? randomBytes(32).toString('base64'),
    EXECUTOR_TOKEN: stored.EXECUTOR_TOKEN ?? randomBytes(32).toString('base64url'),
    ...Object.fromEntries(
      webhookSecrets.map((name) => [
        name,
        stored[name] ?? `whsec_${randomBytes(32).toString('base64')}`,
      ]),
    ),
  };
  writeFileSync(file, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 });
  return Object.fromEntries(
    Object.entries(secrets).map(([name, value]) => [name, fromEnvironment(name) ?? value]),
  );
}
