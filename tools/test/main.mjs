// node tools/test/main.mjs [--long] [--layer=NAME] [name or file…] [nx options]: runs all checks
// and tests, or a part of them (docs/testing.md).
import { spawn } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Problem, runMain, print, step } from '../start/output.mjs';
import { root } from '../start/paths.mjs';
import { ensureGenerated } from '../start/prisma.mjs';
import { childrenCpuMs, clearDurations, reportDurations, slowestLines } from './durations.mjs';
import { ensureChromium } from './ensure-chromium.mjs';
import { commandsOf, select } from './selection.mjs';
import { startTestServers } from './servers.mjs';
import { statementFaults } from './statement-faults.mjs';
import { createTally } from './tally.mjs';

await runMain(async () => {
  const startedAt = Date.now();
  const selection = select(process.argv.slice(2));
  // Notes of earlier runs are about earlier statements. Nx restores those of the targets that it
  // takes from its cache.
  const notes = join(root, 'dist', 'statements');
  if (selection.files.length === 0) rmSync(notes, { recursive: true, force: true });
  mkdirSync(notes, { recursive: true });
  clearDurations();
  await ensureGenerated();
  ensureChromium();
  let servers;
  await step('Starting PostgreSQL and Redis for the tests', async () => {
    servers = await startTestServers(print).catch((error) => {
      throw new Problem(error.message);
    });
  });
  const tally = createTally();
  const codes = [];
  for (const { name, args, env } of commandsFor(selection)) {
    if (name !== undefined) tally.read(`> nx run ${name}`);
    codes.push(await run(args, { ...servers.env, ...env }, tally.read));
  }
  const code = codes.find((one) => one !== 0) ?? 0;
  const faults = await statementFaults(servers.env, selection, code === 0);
  await servers.stop();
  for (const line of [...slowestLines(durationsSince(startedAt).files), ...faults]) print(line);
  const { passed, failed } = tally.result(code);
  print(`${passed} passed, ${failed + faults.length} failed`);
  return code === 0 && faults.length > 0 ? 1 : code;
});

/**
 * Nx runs targets, whose names it prints; files are run without it. Planted faults run last, with
 * few rounds: a fault must be found by default.
 */
function commandsFor({ files, projects, layer, targets, isLong, nxOptions }) {
  const env = isLong ? { PARLEY_TEST_ROUNDS: 'full' } : {};
  const commands = commandsOf(files).map((command) => ({ ...command, env }));
  if (files.length === 0 || projects !== null) {
    const chosen = projects === null ? [] : [`--projects=${projects.join(',')}`];
    const nx = [
      'run-many',
      '-t',
      ...targets,
      '--parallel=2',
      '--outputStyle=static',
      ...chosen,
      ...nxOptions,
    ];
    commands.push({ args: [join('node_modules', '.bin', 'nx'), ...nx], env });
  }
  const isComplete = files.length === 0 && projects === null && layer === undefined;
  if (isLong && isComplete)
    commands.push({ name: 'bootstrap:planted-faults', args: ['tools/test/planted-faults.mjs'] });
  return commands;
}

function durationsSince(startedAt) {
  return reportDurations({ wallMs: Date.now() - startedAt, cpuMs: childrenCpuMs() });
}

async function run(args, testEnv, onLine) {
  const child = spawn(process.execPath, args, {
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
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'disconnect'];
  for (const signal of signals) process.on(signal, stop);
  process.channel?.unref(); // the IPC channel to the parent must not keep this process alive
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      print(line);
      onLine(line);
    });
  }
  const code = await new Promise((resolve) => child.once('close', (ended) => resolve(ended ?? 1)));
  for (const signal of signals) process.off(signal, stop);
  return code;
}
