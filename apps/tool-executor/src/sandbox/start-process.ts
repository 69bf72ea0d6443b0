import { type ChildProcess, spawn } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { type Frame, type ReceivedFrame, createFrameReader, encodeFrame } from './frames';
import { limitProcess } from './process-limits';
import type { FromSandbox, ToSandbox } from './protocol';
import { lowerPriorityWhileStarting } from './process-priority';

export interface SandboxProcess {
  pid: number;
  /** Whether the kernel's limits are set (Linux with `prlimit`). */
  isLimited: boolean;
  /** Resolves when the frame has left the memory of the service, or the process has ended. */
  send(frame: Frame<ToSandbox>): Promise<void>;
  /** Sets the listener of the current call. Without a listener, frames are dropped. */
  listen(listener: Listener | null): void;
  kill(): void;
  /** Calls the listener once, when the process has ended for any reason. */
  onExit(listener: () => void): void;
}

interface Listener {
  onFrame: (frame: ReceivedFrame<FromSandbox>) => void;
  onExit: () => void;
}

export interface StartOptions {
  /** The bundled entry, the only file that the process may read. */
  entry: string;
  /** User id of the process when the service runs as root. */
  uid: number;
  /** False: the process starts with a lower priority, as others are free for the next call. */
  isUrgent?: boolean;
  startTimeoutMs?: number;
}

/**
 * Node's permission model denies files, processes, workers, addons and the inspector. V8 denies
 * code from strings.
 */
const nodeFlags = [
  '--permission',
  '--disallow-code-generation-from-strings',
  '--disable-proto=throw',
  '--no-addons',
  '--no-deprecation',
  '--no-warnings',
  '--expose-gc',
  '--max-old-space-size=32',
  // One helper thread and a small young generation save a third of the memory, and are not slower
  // for one call at a time.
  '--max-semi-space-size=1',
  '--v8-pool-size=1',
  // In KiB. Large enough for the engine to reach its own limit first, and below the usual 8 MiB
  // of a main thread.
  '--stack-size=3900',
];

/**
 * The whole environment of a sandbox process. One allocation arena, and returning free memory to
 * the operating system, save 6 of 29 MB. io_uring would add attack surface.
 */
const env = {
  TZ: 'UTC',
  MALLOC_ARENA_MAX: '1',
  MALLOC_TRIM_THRESHOLD_: '65536',
  UV_USE_IO_URING: '0',
};

/**
 * Starts a sandbox process, sets the kernel's limits once it has loaded, and has it
 * give up its rights.
 */
export async function startProcess({
  entry,
  uid,
  isUrgent = true,
  // Long, because on a busy machine a process with a lower priority starts slowly, and killing
  // it would not help.
  startTimeoutMs = 60_000,
}: StartOptions): Promise<SandboxProcess> {
  const child = spawn(process.execPath, [...nodeFlags, entry], {
    cwd: '/',
    env,
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const started = wrap(child);
  const timer = setTimeout(() => started.kill(), startTimeoutMs);
  const restorePriority = isUrgent ? null : lowerPriorityWhileStarting(started.pid);
  try {
    await next(started, 'loaded');
    started.isLimited = (await limitProcess(started.pid)) !== null;
    const isRoot = process.getuid?.() === 0;
    void started.send({ head: { type: 'seal', uid: isRoot ? uid : null } });
    await next(started, 'ready');
    restorePriority?.();
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
  let hasEnded = false;
  const end = () => {
    if (hasEnded) return;
    hasEnded = true;
    pipe.destroy();
    listener?.onExit();
    for (const onExit of exitListeners) onExit();
  };
  const read = createFrameReader<FromSandbox>((frame) => listener?.onFrame(frame));
  pipe.on('data', (chunk: Buffer) => {
    try {
      if (!hasEnded) read(chunk);
    } catch {
      // Invalid frames do not come from the runner of this product.
      child.kill('SIGKILL');
    }
  });
  pipe.on('error', () => child.kill('SIGKILL'));
  child.on('error', end);
  // Unlike 'exit', this comes after the last frame of the process.
  child.on('close', end);
  return {
    pid: child.pid ?? 0,
    isLimited: false,
    send: (frame) => new Promise((resolve) => void pipe.write(encodeFrame(frame), () => resolve())),
    listen: (next) => void (listener = next),
    kill: () => void child.kill('SIGKILL'),
    onExit: (onExit) => void (hasEnded ? onExit() : exitListeners.push(onExit)),
  };
}

function next(started: SandboxProcess, type: FromSandbox['type']): Promise<void> {
  return new Promise((resolve, reject) => {
    const onExit = () => reject(new Error(`A sandbox process ended before it was ${type}`));
    const onFrame = ({ head }: Frame<FromSandbox>) => {
      if (head.type !== type)
        return reject(new Error(`A sandbox process sent ${head.type} before ${type}`));
      started.listen(null);
      resolve();
    };
    started.listen({ onFrame, onExit });
  });
}
