// Makes the secrets of a compose stack once, each in a file that only its owner reads. The tool executor, which runs
// code of users, has a volume of its own with the one secret it needs.
import { randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';

const folder = '/var/lib/parley';

function keep(file, make) {
  if (!existsSync(file)) writeFileSync(file, make(), { mode: 0o400 });
}

keep(`${folder}/secrets/secrets-key`, () => randomBytes(32).toString('base64'));
if (!existsSync(`${folder}/secrets/database-url`)) {
  const password = randomBytes(24).toString('base64url');
  keep(`${folder}/secrets/postgres-password`, () => password);
  keep(`${folder}/secrets/database-url`, () => `postgresql://parley:${password}@postgres:5432/parley`);
}
const token = randomBytes(32).toString('base64url');
keep(`${folder}/executor/executor-token`, () => token);
