// Creates the demo organization of a compose stack and prints the same summary as `npm start`. The
// key can be read only when it is created, so it is stored in a volume.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { printBanner } from './start/banner.mjs';
import { demoPageLink } from './start/demo-page.mjs';

const file = '/var/lib/parley/state/dev-key';
const gatewayUrl = process.env.GATEWAY_URL;
// The address in links, which `parley members invite` reads too. Not a default in compose.yaml:
// older versions of compose do not expand one inside another.
process.env.PUBLIC_URL ||= `http://localhost:${process.env.PARLEY_PORT}`;

/** Runs `parley <args>` and parses the last line of its output. */
function run(...args) {
  const output = execFileSync(process.execPath, ['/app/main.cjs', ...args], { encoding: 'utf8' });
  return JSON.parse(output.trim().split('\n').at(-1));
}

async function isAccepted(key) {
  const response = await fetch(`${gatewayUrl}/v1/entity-types`, {
    headers: { Authorization: `Bearer ${key}` },
  });
  await response.body?.cancel();
  return response.status !== 401;
}

const stored = existsSync(file) ? readFileSync(file, 'utf8').trim() : null;
let key = run('demo').key ?? stored;
if (!key || !(await isAccepted(key))) key = run('demo', '--new-key').key;
writeFileSync(file, `${key}\n`, { mode: 0o600 });
printBanner({
  gatewayPort: process.env.PARLEY_PORT,
  key,
  demoPage: await demoPageLink(gatewayUrl, key, process.env.PUBLIC_URL).catch(() => null),
  adminLink: run('members', 'invite', '--org', 'demo', '--first', '--json').link,
  steps: [],
  startCommand: 'docker compose -f docker/compose.yaml up',
  ending:
    '"docker compose -f docker/compose.yaml down" stops all services and keeps the data; --volumes also deletes it.',
});
