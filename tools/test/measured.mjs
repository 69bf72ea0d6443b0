// node tools/test/measured.mjs TARGET COMMAND…: runs a command and writes how long it took
// to dist/durations.
import { spawn } from 'node:child_process';
import { childrenCpuMs, writeDurations } from './durations.mjs';

const [target, command, ...args] = process.argv.slice(2);
const startedAt = Date.now();
const child = spawn(command, args, {
  stdio: 'inherit',
  env: { ...process.env, PARLEY_TEST_TARGET: target },
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.once('error', (error) => {
  console.error(`${command}: ${error.message}`);
  process.exitCode = 1;
});
child.once('close', (code) => {
  const wallMs = Date.now() - startedAt;
  writeDurations(`target-${target}`, { targets: [{ target, wallMs, cpuMs: childrenCpuMs() }] });
  process.exitCode = code ?? 1;
});
