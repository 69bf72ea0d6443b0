// Creates the secrets of a compose stack once, each in a file that only its owner can read. The tool executor, which runs
// user code, has a separate volume with the one secret that it needs.
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

const folder = '/var/lib/parley';

/** @param {string} [given] replaces the stored secret */
function store(file, generate, given) {
  if (given) rmSync(file, { force: true });
  if (!existsSync(file)) writeFileSync(file, given || generate(), { mode: 0o400 });
}

store(`${folder}/secrets/secrets-key`, () => randomBytes(32).toString('base64'));
store(`${folder}/secrets/postgres-password`, () => randomBytes(24).toString('base64url'));
const password = readFileSync(`${folder}/secrets/postgres-password`, 'utf8');
store(`${folder}/secrets/database-url`, () => `postgresql://parley:${password}@postgres:5432/parley`);
store(`${folder}/executor/executor-token`, () => randomBytes(32).toString('base64url'));
for (const provider of ['billing', 'email', 'messaging']) {
  const given = process.env[`${provider.toUpperCase()}_WEBHOOK_SECRET`];
  store(`${folder}/secrets/${provider}-webhook-secret`, () => `whsec_${randomBytes(32).toString('base64')}`, given);
}
