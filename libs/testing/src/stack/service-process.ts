import { type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, hasExited, spawnGuarded, stopProcess } from '@parley/embedded';

const readyDeadlineMs = 30_000;
const stopDeadlineMs = 10_000;
const keptLines = 5_000;

/** One service of a stack: the real bundle in a process of its own. */
export interface ServiceProcess {
  readonly name: string;
  readonly url: string;
  /** Where /livez, /readyz and /metrics are. */
  readonly internalUrl: string;
  readonly pid: number;
  /** What it printed last. */
  readonly lines: readonly string[];
  /** Starts it (again) on the same ports and waits until it is ready. */
  start(): Promise<void>;
  /** SIGTERM, and the status it ends with (null when it had to be killed). */
  stop(): Promise<number | null>;
  kill(): Promise<void>;
}

export interface ServiceSettings {
  name: string;
  /** Folder that holds `<name>/main.cjs`. */
  bundles: string;
  /** Read at each start. */
  environment: () => Record<string, string>;
}

/** PARLEY_TEST_PRELOAD: a module that watches the services from inside (apps/e2e/watch-egress.cjs). */
const preloaded = () => (process.env.PARLEY_TEST_PRELOAD ? ['--require', process.env.PARLEY_TEST_PRELOAD] : []);

export async function prepareService({ name, bundles, environment }: ServiceSettings): Promise<ServiceProcess> {
  const [port, internalPort] = [await freePort(), await freePort()];
  const lines: string[] = [];
  let child: ChildProcess | undefined;

  async function untilReady(started: ChildProcess, deadlineMs: number): Promise<void> {
    let last = 'no answer';
    while (Date.now() < deadlineMs) {
      if (hasExited(started)) throw new Error(`${name} does not start:\n${lines.slice(-10).join('\n')}`);
      try {
        const response = await fetch(`http://127.0.0.1:${internalPort}/readyz`);
        last = await response.text();
        if (response.ok) return;
      } catch {
        // It does not listen yet.
      }
      await sleep(20);
    }
    throw new Error(`${name} is not ready: ${last}\n${lines.slice(-10).join('\n')}`);
  }

  return {
    name,
    url: `http://127.0.0.1:${port}`,
    internalUrl: `http://127.0.0.1:${internalPort}`,
    lines,
    get pid() {
      return child?.pid ?? 0;
    },
    async start() {
      const started = (child = spawnGuarded(
        process.execPath,
        [...preloaded(), '--enable-source-maps', join(bundles, name, 'main.cjs')],
        {
          env: {
            PATH: process.env.PATH ?? '',
            NODE_ENV: 'test',
            HOST: '127.0.0.1',
            PORT: String(port),
            INTERNAL_PORT: String(internalPort),
            SHUTDOWN_TIMEOUT_MS: '5000',
            PARLEY_TEST_EGRESS: process.env.PARLEY_TEST_EGRESS ?? '',
            PARLEY_TEST_STATEMENTS: process.env.PARLEY_TEST_STATEMENTS ?? '',
            ...environment(),
          },
        },
      ));
      for (const stream of [started.stdout, started.stderr]) {
        stream?.setEncoding('utf8').on('data', (text: string) => {
          lines.push(...text.split('\n').filter(Boolean));
          lines.splice(0, lines.length - keptLines);
        });
      }
      await untilReady(started, Date.now() + readyDeadlineMs);
    },
    async stop() {
      if (child) await stopProcess(child, 'SIGTERM', stopDeadlineMs);
      return child?.exitCode ?? null;
    },
    async kill() {
      if (child) await stopProcess(child, 'SIGKILL', stopDeadlineMs);
    },
  };
}
