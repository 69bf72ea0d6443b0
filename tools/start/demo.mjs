import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Problem } from './output.mjs';
import { root } from './paths.mjs';
import { bundleOf } from './supervisor.mjs';

const cliDeadlineMs = 120_000;

/** Runs `parley <args>` and returns its output. */
export async function runCli(args, env) {
  const options = { cwd: root, env, timeout: cliDeadlineMs };
  const run = promisify(execFile)(
    process.execPath,
    ['--enable-source-maps', bundleOf('cli'), ...args],
    options,
  );
  const { stdout } = await run.catch((error) => {
    throw new Problem(
      `"parley ${args.join(' ')}" failed:\n${(error.stderr || error.stdout || error.message).trim()}`,
    );
  });
  return stdout.trim();
}

/**
 * Creates the demo organization if it does not exist. Its key can be read only when it is created,
 * so it is stored.
 * @returns {Promise<string | null>} the key when this call created it
 */
export async function seedDemo(stateDir, env, args = []) {
  const { key } = JSON.parse((await runCli(['demo', ...args], env)).split('\n').at(-1));
  if (key) writeFileSync(keyFile(stateDir), `${key}\n`, { mode: 0o600 });
  return key;
}

/** The link for the first administrator of the demo organization; null when it has one. */
export async function firstAdminLink(env) {
  return JSON.parse(await runCli(['members', 'invite', '--org', 'demo', '--first', '--json'], env))
    .link;
}

/**
 * The stored key, or a new one when the database does not have it, as with another DATABASE_URL.
 */
export async function developmentKey(stateDir, env, dataUrl) {
  const file = keyFile(stateDir);
  const stored = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  return stored && (await isAccepted(stored, dataUrl))
    ? stored
    : seedDemo(stateDir, env, ['--new-key']);
}

async function isAccepted(key, dataUrl) {
  const response = await fetch(`${dataUrl}/v1/entity-types`, {
    headers: { Authorization: `Bearer ${key}` },
  });
  await response.body?.cancel();
  return response.status !== 401;
}

function keyFile(stateDir) {
  return join(stateDir, 'dev-key');
}
