// Makes the secrets of a compose stack once, each in a file that only its owner reads. The tool executor, which runs
// code of users, has a volume of its own with the one secret it needs.
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

const folder = '/var/lib/parley';

/** @param {string} [given] goes before what is kept, and is kept */
function keep(file, make, given) {
  if (given) rmSync(file, { force: true });
  if (!existsSync(file)) writeFileSync(file, given || make(), { mode: 0o400 });
}

keep(`${folder}/secrets/secrets-key`, () => randomBytes(32).toString('base64'));
keep(`${folder}/secrets/postgres-password`, () => randomBytes(24).toString('base64url'));
const password = readFileSync(`${folder}/secrets/postgres-password`, 'utf8');
keep(`${folder}/secrets/database-url`, () => `postgresql://parley:${password}@postgres:5432/parley`);
keep(`${folder}/executor/executor-token`, () => randomBytes(32).toString('base64url'));
for (const provider of ['billing', 'email', 'messaging']) {
  const given = process.env[`${provider.toUpperCase()}_WEBHOOK_SECRET`];
  keep(`${folder}/secrets/${provider}-webhook-secret`, () => `whsec_${randomBytes(32).toString('base64')}`, given);
}
