import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openLogFile } from './log-files.mjs';
import { followOutput, readable, shortLine } from './log-lines.mjs';
import { Problem, print, printWarning } from './output.mjs';
import { root } from './paths.mjs';

const readyDeadlineMs = 120_000;
const stopDeadlineMs = 8_000;
const firstRestartMs = 500;
const longestRestartMs = 10_000;
/** After this time without a crash the restart delay is reset. */
const healthyAfterMs = 30_000;
const keptLines = 8;

/**
 * Starts, watches, restarts and stops the service processes.
 * @param {object} options
 * @param {ReturnType<typeof import('./services.mjs').plannedServices>} options.services
 * @param {(service: object) => Record<string, string>} options.environmentOf
 * @param {Awaited<ReturnType<typeof import('./load-typescript.mjs').loadEmbedded>>}
 *   options.embedded
 * @param {string} options.stateDir the folder of the log files
 * @param {() => void} options.onChange called when a process id changes
 */
export function createSupervisor({ services, environmentOf, embedded, stateDir, onChange }) {
  const { hasExited, spawnService, stopProcess } = embedded;
  const records = new Map(
    services.map((service) => [
      service.name,
      { service, shouldRun: false, restarts: 0, log: openLogFile(stateDir, service.name) },
    ]),
  );
  let allReady = false;

  function spawnRecord(record) {
    const { service } = record;
    const child = spawnService(bundleOf(service.name), { cwd: root, env: environmentOf(service) });
    Object.assign(record, { child, startedAt: Date.now(), lastLines: [] });
    followOutput(child, (line) => {
      record.log.write(line);
      record.lastLines = [...record.lastLines, ...readable(line).split('\n')].slice(-keptLines);
      const shown = shortLine(service.name, line);
      if (shown !== null) print(shown);
    });
    child.once('exit', (code, signal) => void onExit(record, child, signal ?? `code ${code}`));
    onChange();
  }

  async function onExit(record, child, reason) {
    if (!allReady || !record.shouldRun || record.child !== child) return;
    const { name } = record.service;
    if (Date.now() - record.startedAt > healthyAfterMs) record.restarts = 0;
    const pauseMs = Math.min(firstRestartMs * 2 ** record.restarts++, longestRestartMs);
    printWarning(
      `${name} exited (${reason}). Restarting it in ${pauseMs / 1000} s; other services are not affected.`,
    );
    await sleep(pauseMs);
    if (!record.shouldRun || record.child !== child) return;
    spawnRecord(record);
    await untilReady(record).then(
      () => print(`${name} is ready again.`),
      // onExit reports another exit.
      (error) => !hasExited(record.child) && printWarning(`${error.message}. It keeps running.`),
    );
  }

  async function untilReady(record) {
    const { child, service } = record;
    const deadline = Date.now() + readyDeadlineMs;
    let last = 'no response';
    while (Date.now() < deadline) {
      if (hasExited(child)) {
        await sleep(100); // wait for the last lines
        throw new Problem(
          `${service.name} does not start. Its last output:\n${record.lastLines.join('\n')}`,
        );
      }
      last = await readiness(service);
      if (last === 'ready') return;
      await sleep(50);
    }
    throw new Problem(`${service.name} is not ready after ${readyDeadlineMs / 1000} s: ${last}`);
  }

  async function stop(name) {
    const record = records.get(name);
    record.shouldRun = false;
    if (record.child) await stopProcess(record.child, 'SIGTERM', stopDeadlineMs);
  }

  async function start(name) {
    const record = records.get(name);
    record.shouldRun = true;
    spawnRecord(record);
    await untilReady(record);
  }

  return {
    async startAll() {
      await Promise.all(services.map(({ name }) => start(name)));
      allReady = true;
    },
    /** Stops the gateway first, so that no new requests arrive, then the other services. */
    async stopAll() {
      const names = services.map(({ name }) => name);
      if (records.has('gateway')) await stop('gateway');
      await Promise.all(names.map(stop));
    },
    killAll() {
      for (const record of records.values()) {
        record.shouldRun = false;
        record.child?.kill('SIGKILL');
      }
    },
    has: (name) => records.has(name),
    start,
    stop,
    /** @returns {Record<string, { pid: number, port: number, internalPort: number }>} */
    describe: () =>
      Object.fromEntries(
        [...records.values()].map(({ service: { name, port, internalPort }, child }) => [
          name,
          { pid: child?.pid, port, internalPort },
        ]),
      ),
  };
}

export function bundleOf(name) {
  return join(root, 'dist', 'apps', name, 'main.cjs');
}

/** Returns 'ready', or the reason that the service reports. */
async function readiness({ internalPort }) {
  try {
    const response = await fetch(`http://127.0.0.1:${internalPort}/readyz`, {
      signal: AbortSignal.timeout(3_000),
    });
    const body = await response.text();
    return response.ok ? 'ready' : body;
  } catch (error) {
    return error.cause?.code ?? error.message;
  }
}
