// Creates the secrets of a compose stack once, each in a file that only its owner can read, and in
// the volume of the services that need it. Argument: the folder of the volumes.
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.argv[2] ?? '/var/lib/parley';

/** @param {string} [given] replaces the stored secret */
function store(volume, name, generate, given) {
  const file = join(folder, volume, name);
  if (!existsSync(file) || given) {
    rmSync(file, { force: true });
    writeFileSync(file, given || generate(), { mode: 0o400 });
  }
  return readFileSync(file, 'utf8');
}

const keysIn = (text) => text.split(/[\s,]+/).filter(Boolean);
const givenKeys = keysIn(process.env.SECRETS_KEY ?? '');
const storedKeys = store(
  'secrets',
  'secrets-key',
  () => givenKeys.join(',') || randomBytes(32).toString('base64'),
);
if (givenKeys.length > 0 && !keysIn(storedKeys).some((key) => givenKeys.includes(key))) {
  console.error(
    'SECRETS_KEY has none of the keys of this stack, whose secrets could not be read with it any more.',
  );
  console.error(
    'Unset SECRETS_KEY, or set it to NEW,OLD to replace the key (docs/operations.md, "Rotate secrets").',
  );
  process.exit(1);
}
store('secrets', 'secrets-key', () => storedKeys, givenKeys.join(','));
const password = store('postgres', 'postgres-password', () =>
  randomBytes(24).toString('base64url'),
);
store('database', 'database-url', () => `postgresql://parley:${password}@postgres:5432/parley`);
store('executor', 'executor-token', () => randomBytes(32).toString('base64url'));
for (const [provider, volume] of [
  ['billing', 'webhooks'],
  ['email', 'webhooks'],
  ['messaging', 'messaging'],
]) {
  const given = process.env[`${provider.toUpperCase()}_WEBHOOK_SECRET`];
  store(
    volume,
    `${provider}-webhook-secret`,
    () => `whsec_${randomBytes(32).toString('base64')}`,
    given,
  );
}
