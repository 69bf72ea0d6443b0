import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Spawns a long-running process that ends when this process ends, even by SIGKILL. It runs in
 * its own session, so that Ctrl-C in the terminal does not reach it and processes can be
 * stopped in order. At the end of this process it receives `lastSignal`, and the folder
 * `removeAfter` is deleted.
 */
export function spawnGuarded(
  command: string,
  args: string[],
  options: SpawnOptions & { lastSignal?: NodeJS.Signals; removeAfter?: string },
): ChildProcess {
  const { lastSignal = 'SIGTERM', removeAfter = '', ...spawnOptions } = options;
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    ...spawnOptions,
    detached: true,
  });
  if (child.pid !== undefined) guard(child, child.pid, lastSignal, removeAfter);
  return child;
}

/**
 * Starts a shell that reads from a pipe which only this process holds open. The kernel closes the
 * pipe when this process ends, and the shell sends the signal. On Unix nothing else detects SIGKILL
 * of a parent without polling.
 */
function guard(
  child: ChildProcess,
  pid: number,
  signal: NodeJS.Signals,
  removeAfter: string,
): void {
  const script =
    'read -r line; [ "$line" = done ] && exit 0; kill -s "$2" "$1" 2>/dev/null; ' +
    'i=0; while kill -0 "$1" 2>/dev/null && [ $i -lt 100 ]; do i=$((i+1)); sleep 0.1; done; kill -9 "$1" 2>/dev/null; ' +
    '[ -n "$3" ] && rm -rf "$3"; exit 0';
  const watcher = spawn(
    '/bin/sh',
    ['-c', script, 'guard', String(pid), signal.slice(3), removeAfter],
    {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    },
  );
  watcher.on('error', () => undefined);
  watcher.stdin.on('error', () => undefined);
  watcher.unref();
  (watcher.stdin as typeof watcher.stdin & { unref?: () => void }).unref?.();
  child.once('exit', () => watcher.stdin.end('done\n'));
}

/**
 * Sends `signal` to a process, and SIGKILL after `deadlineMs`. Resolves when the
 * process has exited.
 */
export async function stopProcess(
  child: ChildProcess,
  signal: NodeJS.Signals,
  deadlineMs: number,
): Promise<void> {
  if (hasExited(child)) return;
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill(signal);
  const force = setTimeout(() => child.kill('SIGKILL'), deadlineMs);
  await exited;
  clearTimeout(force);
}

/**
 * Stops a process of an earlier run by its id, like `stopProcess`. Returns whether it has exited.
 */
export async function stopPid(
  pid: number,
  signal: NodeJS.Signals,
  deadlineMs: number,
): Promise<boolean> {
  const until = Date.now() + deadlineMs;
  trySignal(pid, signal);
  while (isAlive(pid)) {
    if (Date.now() > until) {
      trySignal(pid, 'SIGKILL');
      await sleep(200);
      return !isAlive(pid);
    }
    await sleep(50);
  }
  return true;
}

/**
 * Resolves when the process prints `marker` to stdout or stderr. Rejects with its last lines when
 * it exits first, or after `deadlineMs`.
 */
export function waitForOutput(
  child: ChildProcess,
  marker: string,
  deadlineMs: number,
): Promise<void> {
  let output = '';
  return new Promise((resolve, reject) => {
    const finish = (error?: Error) => {
      clearTimeout(timer);
      child.off('error', onError).off('exit', onExit);
      for (const stream of [child.stdout, child.stderr]) {
        stream?.off('data', onData);
        stream?.resume(); // the process would block on a full pipe
      }
      if (error) reject(error);
      else resolve();
    };
    const onData = (chunk: Buffer) => {
      output = (output + chunk.toString('utf8')).slice(-4000);
      if (output.includes(marker)) finish();
    };
    const lastLines = () => output.trim().split('\n').slice(-6).join('\n');
    const onError = (error: Error) => finish(error);
    const onExit = () =>
      setTimeout(() => finish(new Error(lastLines() || 'it ended without output')), 50);
    const timer = setTimeout(() => {
      finish(new Error(`not ready after ${Math.round(deadlineMs / 1000)} s\n${lastLines()}`));
    }, deadlineMs);
    child.once('error', onError).once('exit', onExit);
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', onData);
  });
}

export function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function trySignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has already exited.
  }
}
