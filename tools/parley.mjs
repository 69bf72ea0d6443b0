#!/usr/bin/env node
// The `parley` command of a checkout: builds the CLI when its sources are newer than the bundle,
// and runs it with the pinned Node in the current folder.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { root } from './start/paths.mjs';

const bundle = join(root, 'dist', 'apps', 'cli', 'main.cjs');

if (!existsSync(join(root, 'node_modules', 'commander'))) {
  process.stderr.write(
    'error: The packages are not installed. Run npm install or npm start first\n',
  );
  process.exit(1);
}
if (isStale()) {
  // In a separate process, because stdout is reserved for the output of the command.
  const built = spawnSync(process.execPath, [join(root, 'tools', 'build.mjs'), 'cli'], {
    encoding: 'utf8',
  });
  if (built.status !== 0) {
    process.stderr.write(built.stderr || built.stdout || `error: ${built.error?.message}\n`);
    process.exit(1);
  }
}
const pinned = join(root, 'node_modules', 'node', 'bin', 'node');
const child = spawn(
  existsSync(pinned) ? pinned : process.execPath,
  [bundle, ...process.argv.slice(2)],
  {
    stdio: 'inherit',
  },
);
// The terminal sends Ctrl-C to both processes, and the child handles it. Other
// signals are forwarded.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, () => signal !== 'SIGINT' && child.kill(signal));
child.once('error', (error) => {
  process.stderr.write(`error: ${error.message}\n`);
  process.exit(1);
});
child.once('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 1)));

function isStale() {
  if (!existsSync(bundle)) return true;
  const builtMs = statSync(bundle).mtimeMs;
  const sources = [
    'apps/cli/src',
    'libs',
    'prisma/schema.prisma',
    'package-lock.json',
    'tsconfig.base.json',
  ];
  return sources.some((path) => newestMs(join(root, path)) > builtMs);
}

function newestMs(path) {
  const stats = statSync(path);
  if (!stats.isDirectory()) return /\.test\.ts$/.test(path) ? 0 : stats.mtimeMs;
  return Math.max(0, ...readdirSync(path).map((name) => newestMs(join(path, name))));
}
