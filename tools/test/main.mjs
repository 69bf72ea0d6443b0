// node tools/test/main.mjs [name…] [nx options]: runs all checks and tests, or only for projects whose name matches.
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Problem, runMain, print, step } from '../start/output.mjs';
import { root } from '../start/paths.mjs';
import { ensureGenerated } from '../start/prisma.mjs';
import { unlistedAcrossTenants, untestedStatements } from '../structure/statements.mjs';
import { ensureChromium } from './ensure-chromium.mjs';
import { startTestServers } from './servers.mjs';
import { createTally } from './tally.mjs';

const targets = ['check', 'lint', 'test', 'test-partitioned', 'e2e', 'e2e-browser'];

await runMain(async () => {
  const args = process.argv.slice(2);
  const selection = select(args.filter((arg) => !arg.startsWith('-')));
  await ensureGenerated();
  ensureChromium();
  let servers;
  await step('Starting PostgreSQL and Redis for the tests', async () => {
    servers = await startTestServers(print).catch((error) => {
      throw new Problem(error.message);
    });
  });
  const tally = createTally();
  const nx = ['run-many', '-t', ...targets, '--parallel=2', '--outputStyle=static', ...selection];
  const code = await runNx([...nx, ...args.filter((arg) => arg.startsWith('-'))], servers.env, tally.read);
  await servers.stop();
  const faults = args.length === 0 ? statementFaults(code === 0) : [];
  for (const fault of faults) print(fault);
  const { passed, failed } = tally.result(code);
  print(`${passed} passed, ${failed + faults.length} failed`);
  return code === 0 && faults.length > 0 ? 1 : code;
});

/**
 * Differences from the list of statements across tenants, and statements that no test has run. The latter are reported
 * only when every test ran to its end.
 */
function statementFaults(isComplete) {
  const { unlisted, unused } = unlistedAcrossTenants();
  const missing = unlisted.map((one) => `"${one}" is missing in tools/structure/across-tenants.json.`);
  if (!isComplete) return missing;
  return [
    ...untestedStatements().map(({ name, path }) => `No test runs the statement "${name}" of ${path}. Add a test.`),
    ...missing,
    ...unused.map((one) => `No test runs "${one}" of tools/structure/across-tenants.json. Remove it or add a test.`),
  ];
}

/** Selects projects whose folder name contains one of the texts; all projects when there is none. */
function select(texts) {
  if (texts.length === 0) return [];
  const projects = ['apps', 'libs'].flatMap((folder) => readdirSync(join(root, folder)));
  const chosen = projects.filter((project) => texts.some((text) => project.includes(text)));
  if (chosen.length === 0)
    throw new Problem(`No project matches ${texts.join(', ')}. Available: ${projects.join(', ')}.`);
  return [`--projects=${chosen.join(',')}`];
}

async function runNx(args, testEnv, onLine) {
  const child = spawn(process.execPath, [join(root, 'node_modules', '.bin', 'nx'), ...args], {
    cwd: root,
    env: {
      ...process.env,
      ...testEnv,
      NX_DAEMON: 'false',
      NX_NO_CLOUD: 'true',
      NX_TUI: 'false',
      FORCE_COLOR: '0', // otherwise Nx forces colours for all child processes, and caches them
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const stop = () => child.kill('SIGTERM');
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'disconnect']) process.on(signal, stop);
  process.channel?.unref(); // the IPC channel to the parent must not keep this process alive
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      print(line);
      onLine(line);
    });
  }
  return new Promise((resolve) => child.once('close', (code) => resolve(code ?? 1)));
}
