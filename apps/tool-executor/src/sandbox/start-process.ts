import { type ChildProcess, spawn } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { type Frame, createFrameReader, encodeFrame } from './frames';
import { limitProcess } from './process-limits';
import type { FromSandbox, ToSandbox } from './protocol';
import { yieldWhileStarting } from './yield-to-others';

export interface SandboxProcess {
  pid: number;
  /** Whether the kernel's limits are on (Linux with `prlimit`). */
  isLimited: boolean;
  send(frame: Frame<ToSandbox>): void;
  /** One listener at a time, that of the call it serves; without one, frames are dropped. */
  listen(listener: Listener | null): void;
  kill(): void;
  /** For its owner: called once, when it has ended for whatever reason. */
  onExit(listener: () => void): void;
}

interface Listener {
  onFrame: (frame: Frame<FromSandbox>) => void;
  onExit: () => void;
}

export interface StartOptions {
  /** The bundled entry; it may read no other file. */
  entry: string;
  /** What to run as, when this process is root. */
  uid: number;
  /** False: others go first, as other processes are free for the next call. */
  isUrgent?: boolean;
  startTimeoutMs?: number;
}

/** Node's permission model denies files, processes, workers, addons and the inspector; V8 denies code from strings. */
const nodeFlags = [
  '--permission',
  '--disallow-code-generation-from-strings',
  '--disable-proto=throw',
  '--no-addons',
  '--no-deprecation',
  '--no-warnings',
  '--expose-gc',
  '--max-old-space-size=64',
  // One helper thread and a small young generation: a third less memory, and no slower for one call at a time.
  '--max-semi-space-size=1',
  '--v8-pool-size=1',
  // In KiB; the engine's own depth limit must be reached first. Fits the usual 8 MiB of a main thread.
  '--stack-size=3900',
];

/** All that a sandbox process is told. One allocation arena keeps it small; without io_uring it has one door less. */
const env = { TZ: 'UTC', MALLOC_ARENA_MAX: '1', UV_USE_IO_URING: '0' };

/** Starts and seals one sandbox process: loaded → limited by the kernel → root given up → ready. */
export async function startProcess({
  entry,
  uid,
  isUrgent = true,
  // Long: on a machine with much to do, a process that yields to others is slow to come, and killing it helps nobody.
  startTimeoutMs = 60_000,
}: StartOptions): Promise<SandboxProcess> {
  const child = spawn(process.execPath, [...nodeFlags, entry], {
    cwd: '/',
    env,
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const started = wrap(child);
  const timer = setTimeout(() => started.kill(), startTimeoutMs);
  const recover = isUrgent ? null : yieldWhileStarting(started.pid);
  try {
    await next(started, 'loaded');
    started.isLimited = (await limitProcess(started.pid)) !== null;
    const isRoot = process.getuid?.() === 0;
    started.send({ head: { type: 'seal', uid: isRoot ? uid : null } });
    await next(started, 'ready');
    recover?.();
    return started;
  } catch (error) {
    started.kill();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function wrap(child: ChildProcess): SandboxProcess {
  const pipe = child.stdio[3] as Duplex;
  const exitListeners: (() => void)[] = [];
  let listener: Listener | null = null;
  let isGone = false;
  const gone = () => {
    if (isGone) return;
    isGone = true;
    pipe.destroy();
    listener?.onExit();
    for (const onExit of exitListeners) onExit();
  };
  const read = createFrameReader<FromSandbox>((frame) => listener?.onFrame(frame));
  pipe.on('data', (chunk: Buffer) => {
    try {
      if (!isGone) read(chunk);
    } catch {
      // Not our own runner speaking any more.
      child.kill('SIGKILL');
    }
  });
  pipe.on('error', () => child.kill('SIGKILL'));
  child.on('error', gone);
  child.on('exit', gone);
  return {
    pid: child.pid ?? 0,
    isLimited: false,
    send: (frame) => void pipe.write(encodeFrame(frame)),
    listen: (next) => void (listener = next),
    kill: () => void child.kill('SIGKILL'),
    onExit: (onExit) => void (isGone ? onExit() : exitListeners.push(onExit)),
  };
}

function next(started: SandboxProcess, type: FromSandbox['type']): Promise<void> {
  return new Promise((resolve, reject) => {
    const onExit = () => reject(new Error(`A sandbox process ended before it was ${type}`));
    const onFrame = ({ head }: Frame<FromSandbox>) => {
      if (head.type !== type) return reject(new Error(`A sandbox process said ${head.type} before ${type}`));
      started.listen(null);
      resolve();
    };
    started.listen({ onFrame, onExit });
  });
}
