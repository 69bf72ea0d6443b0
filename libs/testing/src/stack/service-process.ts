import { type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { freePort, hasExited, spawnService, stopProcess } from '@parley/embedded';
import { until } from '../until';

const readyLimitMs = 30_000;
const stopLimitMs = 10_000;
const keptLines = 5_000;
/**
 * As of `npm start`. Code that is compiled already takes a tenth off the processor time of a start.
 */
const compiledCode = join(process.cwd(), 'node_modules', '.cache', 'node');

/** One service of a stack: its bundle in a separate process. */
export interface ServiceProcess {
  readonly name: string;
  readonly url: string;
  /** The address of /livez, /readyz and /metrics. */
  readonly internalUrl: string;
  readonly pid: number;
  /** The last lines of its output. */
  readonly lines: readonly string[];
  /**
   * Starts the process, always on the same ports, and waits until it is ready. From then on it
   * runs in this folder.
   */
  start(folder?: string): Promise<void>;
  /** Sends SIGTERM. Returns the exit code, or null if the process had to be killed. */
  stop(): Promise<number | null>;
  kill(): Promise<void>;
}

export interface ServiceSettings {
  name: string;
  /** The folder with `<name>/main.cjs`. */
  bundles: string;
  /** Read at each start. */
  environment: () => Record<string, string>;
}

/**
 * Flags of Node.js that load the modules of PARLEY_TEST_PRELOAD before the code of a process: the
 * check of its statements (libs/db testing/observe-process) and, in end-to-end tests, the watch of
 * its connections.
 */
const preloadFlags = (): string[] =>
  (process.env.PARLEY_TEST_PRELOAD ?? '')
    .split(',')
    .filter(Boolean)
    .flatMap((module) => ['--require', module]);

export async function prepareService({
  name,
  bundles,
  environment,
}: ServiceSettings): Promise<ServiceProcess> {
  const [port, internalPort] = [await freePort(), await freePort()];
  const lines: string[] = [];
  let child: ChildProcess | undefined;
  let cwd = process.cwd();

  async function untilReady(started: ChildProcess): Promise<void> {
    const readStatus = async () => {
      if (hasExited(started)) throw new Error(`${name} has exited`);
      const response = await fetch(`http://127.0.0.1:${internalPort}/readyz`).catch(
        () => undefined,
      );
      return {
        isReady: response?.ok === true,
        status: (await response?.text()) ?? 'it does not listen',
      };
    };
    await until(readStatus, {
      isThere: ({ isReady }) => isReady,
      limitMs: readyLimitMs,
      everyMs: 20,
    }).catch((error) => {
      throw new Error(
        `${name} is not ready: ${(error as Error).message}\n${lines.slice(-10).join('\n')}`,
      );
    });
  }

  return {
    name,
    url: `http://127.0.0.1:${port}`,
    internalUrl: `http://127.0.0.1:${internalPort}`,
    lines,
    get pid() {
      return child?.pid ?? 0;
    },
    async start(folder = cwd) {
      cwd = folder;
      const started = (child = spawnService(join(bundles, name, 'main.cjs'), {
        cwd,
        flags: preloadFlags(),
        env: {
          PATH: process.env.PATH ?? '',
          NODE_ENV: 'test',
          NODE_COMPILE_CACHE: compiledCode,
          HOST: '127.0.0.1',
          PORT: String(port),
          INTERNAL_PORT: String(internalPort),
          SHUTDOWN_TIMEOUT_MS: '5000',
          PARLEY_TEST_EGRESS: process.env.PARLEY_TEST_EGRESS ?? '',
          PARLEY_TEST_STATEMENTS: process.env.PARLEY_TEST_STATEMENTS ?? '',
          ...environment(),
        },
      }));
      for (const stream of [started.stdout, started.stderr]) {
        stream?.setEncoding('utf8').on('data', (text: string) => {
          lines.push(...text.split('\n').filter(Boolean));
          lines.splice(0, lines.length - keptLines);
        });
      }
      await untilReady(started);
    },
    async stop() {
      if (child) await stopProcess(child, 'SIGTERM', stopLimitMs);
      return child?.exitCode ?? null;
    },
    async kill() {
      if (child) await stopProcess(child, 'SIGKILL', stopLimitMs);
    },
  };
}
