import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { Problem } from './output.mjs';

/**
 * Throws a Problem when a port is in use, with the process that listens on it and a --port whose ports are free.
 * @param {{ name: string, port: number, internalPort: number }[]} services
 * @param {number} gatewayPort
 */
export async function checkPorts(services, gatewayPort) {
  for (const { name, port, internalPort } of services) {
    for (const used of [port, internalPort]) {
      if (await isFree(used)) continue;
      const base = await freeBase(services, gatewayPort);
      throw new Problem(
        `Port ${used} (${name}) is in use${holderOf(used)}. ` +
          `Stop that process, or use other ports: npm start -- --port ${base}`,
      );
    }
  }
}

async function freeBase(services, gatewayPort) {
  for (let base = gatewayPort + 1000; base < 60_000; base += 1000) {
    const ports = services.flatMap(({ port, internalPort }) => [port, internalPort]);
    const free = await Promise.all(ports.map((port) => isFree(port - gatewayPort + base)));
    if (free.every(Boolean)) return base;
  }
  return 'N';
}

function isFree(port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** Returns " by <command> (process 123)", or '' when the process cannot be found. */
function holderOf(port) {
  try {
    const pid = process.platform === 'linux' ? linuxHolder(port) : lsofHolder(port);
    return pid ? ` by ${commandOf(pid)} (process ${pid})` : '';
  } catch {
    return '';
  }
}

/** Finds the socket's inode in /proc/net/tcp, then the process that has it open. */
function linuxHolder(port) {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const listening = ['/proc/net/tcp', '/proc/net/tcp6']
    .flatMap((file) => readFileSync(file, 'utf8').split('\n'))
    .map((line) => line.trim().split(/\s+/))
    .find((columns) => columns[1]?.endsWith(suffix) && columns[3] === '0A');
  const socket = `socket:[${listening?.[9]}]`;
  return readdirSync('/proc').find((pid) => /^\d+$/.test(pid) && openFiles(pid).includes(socket));
}

function openFiles(pid) {
  const folder = `/proc/${pid}/fd`;
  return readOrEmpty(() => readdirSync(folder)).flatMap((fd) => readOrEmpty(() => [readlinkSync(`${folder}/${fd}`)]));
}

/** Processes of other users cannot be read, and files and processes may disappear while they are read. */
function readOrEmpty(read) {
  try {
    return read();
  } catch {
    return [];
  }
}

function lsofHolder(port) {
  return execFileSync('lsof', ['-nP', '-t', `-iTCP:${port}`, '-sTCP:LISTEN'], { encoding: 'utf8' }).split('\n')[0];
}

function commandOf(pid) {
  return execFileSync('ps', ['-p', pid, '-o', 'args='], { encoding: 'utf8' }).trim().slice(0, 80);
}
