import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildSync } from 'esbuild';
import { isAlive, spawnGuarded, stopProcess, waitForOutput } from './child-process';

async function hasEnded(pid: number): Promise<boolean> {
  for (let attempt = 0; attempt < 100 && isAlive(pid); attempt++) await sleep(50);
  return !isAlive(pid);
}

describe('spawnGuarded', () => {
  it('ends the process when its parent is killed with SIGKILL', async () => {
    const parentCode = `
      import { spawnGuarded } from '${__dirname}/child-process';
      console.log(spawnGuarded('sleep', ['600'], {}).pid);
      setInterval(() => {}, 1000);`;
    const bundle = buildSync({
      stdin: { contents: parentCode, resolveDir: __dirname },
      bundle: true,
      platform: 'node',
      write: false,
    });
    const parent = spawn(process.execPath, ['-e', bundle.outputFiles[0]?.text ?? ''], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const pid = await new Promise<number>((resolve) =>
      createInterface({ input: parent.stdout }).once('line', (line) => resolve(Number(line))),
    );
    expect(isAlive(pid)).toBe(true);
    parent.kill('SIGKILL');
    expect(await hasEnded(pid)).toBe(true);
  });
});

describe('stopProcess', () => {
  it('kills a process that ignores the signal after the deadline', async () => {
    const child = spawnGuarded(
      '/bin/sh',
      ['-c', 'trap "" TERM; echo up; while :; do sleep 0.1; done'],
      {},
    );
    await waitForOutput(child, 'up', 5_000);
    await stopProcess(child, 'SIGTERM', 300);
    expect(child.signalCode).toBe('SIGKILL');
  });
});

describe('waitForOutput', () => {
  it('rejects with the last output of a process that ends', async () => {
    const child = spawnGuarded('/bin/sh', ['-c', 'echo out of luck >&2; exit 3'], {});
    await expect(waitForOutput(child, 'ready', 5_000)).rejects.toThrow('out of luck');
  });
});
