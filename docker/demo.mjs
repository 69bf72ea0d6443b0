// Seeds the demo organization of a compose stack and prints what `npm start` prints. The key is only told when it is
// made, so it is kept in a volume.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { printBanner } from './start/banner.mjs';

const file = '/var/lib/parley/state/dev-key';
const gatewayUrl = process.env.GATEWAY_URL;

/** @returns {string | null} the key when it was made just now */
function seed(...args) {
  const output = execFileSync(process.execPath, ['/app/main.cjs', 'demo', ...args], { encoding: 'utf8' });
  return JSON.parse(output.trim().split('\n').at(-1)).key;
}

async function isAccepted(key) {
  const response = await fetch(`${gatewayUrl}/v1/entity-types`, { headers: { Authorization: `Bearer ${key}` } });
  await response.body?.cancel();
  return response.status !== 401;
}

const kept = existsSync(file) ? readFileSync(file, 'utf8').trim() : null;
let key = seed() ?? kept;
if (!key || !(await isAccepted(key))) key = seed('--new-key');
writeFileSync(file, `${key}\n`, { mode: 0o600 });
printBanner({
  gatewayPort: process.env.PARLEY_PORT,
  key,
  startCommand: 'docker compose -f docker/compose.yaml up',
  ending:
    '"docker compose -f docker/compose.yaml down" stops everything and keeps the data; with --volumes it is removed.',
});
