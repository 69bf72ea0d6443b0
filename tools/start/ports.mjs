import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { Problem } from './output.mjs';

/**
 * Throws a Problem that names the first port somebody listens on, who that is, and a --port that works.
 * @param {{ name: string, port: number, internalPort: number }[]} services
 * @param {number} gatewayPort
 */
export async function checkPorts(services, gatewayPort) {
  for (const { name, port, internalPort } of services) {
    for (const wanted of [port, internalPort]) {
      if (await isFree(wanted)) continue;
      const base = await freeBase(services, gatewayPort);
      throw new Problem(
        `Port ${wanted} (${name}) is taken${holderOf(wanted)}. ` +
          `Stop that, or use other ports: npm start -- --port ${base}`,
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

/** " by <command> (process 123)" when that can be found out, else ''. */
function holderOf(port) {
  try {
    const pid = process.platform === 'linux' ? linuxHolder(port) : lsofHolder(port);
    return pid ? ` by ${commandOf(pid)} (process ${pid})` : '';
  } catch {
    return '';
  }
}

/** /proc/net/tcp names the socket's inode, and some process has that inode open. */
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
  return orNothing(() => readdirSync(folder)).flatMap((fd) => orNothing(() => [readlinkSync(`${folder}/${fd}`)]));
}

/** Other users' processes cannot be looked into, and files and processes vanish in between. */
function orNothing(read) {
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
