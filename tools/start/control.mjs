import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Problem } from './output.mjs';

/** In characters. Some systems truncate longer paths of Unix sockets. */
const longestSocketPath = 100;

/** The socket that the supervisor of this folder listens on. */
function controlPath(stateDir) {
  const path = join(stateDir, 'control.sock');
  if (path.length <= longestSocketPath) return path;
  return join(
    tmpdir(),
    `parley-${createHash('sha256').update(stateDir).digest('hex').slice(0, 12)}.sock`,
  );
}

/**
 * Sends one request to the supervisor and resolves with its answer, or with null when none runs.
 * The connection stays open: a released service is restarted by the supervisor when the
 * connection closes.
 * @returns {Promise<{ answer: any, connection: import('node:net').Socket } | null>}
 */
export function askSupervisor(stateDir, request) {
  return new Promise((resolve, reject) => {
    const connection = createConnection(controlPath(stateDir));
    connection.once('error', (error) => {
      if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') resolve(null);
      else reject(error);
    });
    connection.once('connect', () => connection.write(`${JSON.stringify(request)}\n`));
    createInterface({ input: connection })
      .on('error', () => {}) // the handler of the socket's error reports it
      .once('line', (line) => resolve({ answer: JSON.parse(line), connection }));
  });
}

/**
 * Listens for requests. The socket also serves as the lock of the folder: throws a Problem when
 * another supervisor answers on it.
 * @param {string} stateDir
 * @param {(request: any, whenClosed: (work: () => void) => void) => Promise<object>} handle
 */
export async function listenForRequests(stateDir, handle) {
  const server = createServer((connection) => {
    connection.on('error', () => {});
    createInterface({ input: connection })
      .on('error', () => {})
      .once('line', async (line) => {
        const whenClosed = (work) =>
          connection.destroyed ? work() : connection.once('close', work);
        const answer = await handle(JSON.parse(line), whenClosed).catch((error) => ({
          error: error.message,
        }));
        if (!connection.destroyed) connection.write(`${JSON.stringify(answer)}\n`);
      });
  });
  const path = controlPath(stateDir);
  try {
    await listen(server, path);
  } catch (error) {
    if (error.code !== 'EADDRINUSE') throw error;
    await refuseIfRunning(stateDir);
    rmSync(path, { force: true }); // the socket of a run that was killed
    await listen(server, path);
  }
  return { close: () => server.close() };
}

/** Throws a Problem when a supervisor of this folder runs. */
export async function refuseIfRunning(stateDir) {
  const running = await askSupervisor(stateDir, { command: 'status' });
  running?.connection.destroy();
  if (!running) return;
  const { pid, gatewayUrl } = running.answer;
  throw new Problem(
    `Parley is already running in this folder: ${gatewayUrl} (process ${pid}). Stop it with Ctrl-C.`,
  );
}

function listen(server, path) {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => resolve(server.off('error', reject)));
  });
}
