import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { Problem } from './output.mjs';

/**
 * Ports of the Fetch standard's list of bad ports. Browsers and Node's fetch refuse them. Ports
 * below 1024 are not listed here.
 */
const refusedByBrowsers = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669,
  6679, 6697, 10080,
]);
/** Ports below need special rights on most systems, and many are on that list too. */
const lowestPort = 1024;

/**
 * Throws a Problem when browsers refuse a port of the stack, or when it needs special rights.
 * @param {{ name: string, port: number, internalPort: number }[]} services
 */
export function refuseUnusablePorts(services, gatewayPort) {
  for (const [name, port] of portsOf(services)) {
    if (port >= lowestPort && !refusedByBrowsers.has(port)) continue;
    const reason =
      port < lowestPort
        ? `is below ${lowestPort}, which needs special rights`
        : 'is one that browsers refuse to open';
    throw new Problem(
      `Port ${port} (${name}) ${reason}. Use other ports: npm start -- --port ${usableBase(services, gatewayPort)}`,
    );
  }
}

const portsOf = (services) =>
  services.flatMap(({ name, port, internalPort }) => [
    [name, port],
    [`${name}, internal`, internalPort],
  ]);

/** The nearest higher multiple of 1000 at which all ports can be used. */
function usableBase(services, gatewayPort) {
  for (let base = Math.ceil((gatewayPort + 1) / 1000) * 1000; ; base += 1000) {
    if (base >= lowestPort && arePortsUsable(services, base - gatewayPort)) return base;
  }
}

const arePortsUsable = (services, offset) =>
  portsOf(services).every(([, port]) => !refusedByBrowsers.has(port + offset));

/**
 * Throws a Problem when a port is in use, with the process that listens on it and a --port
 * whose ports are free.
 * @param {{ name: string, port: number, internalPort: number }[]} services
 * @param {number} gatewayPort
 */
export async function checkPorts(services, gatewayPort) {
  for (const [name, port] of portsOf(services)) {
    if (await isFree(port)) continue;
    const base = await freeBase(services, gatewayPort);
    throw new Problem(
      `Port ${port} (${name}) is in use${holderOf(port)}. ` +
        `Stop that process, or use other ports: npm start -- --port ${base}`,
    );
  }
}

async function freeBase(services, gatewayPort) {
  for (let base = gatewayPort + 1000; base < 60_000; base += 1000) {
    if (!arePortsUsable(services, base - gatewayPort)) continue;
    const free = await Promise.all(
      portsOf(services).map(([, port]) => isFree(port - gatewayPort + base)),
    );
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
  return readOrEmpty(() => readdirSync(folder)).flatMap((fd) =>
    readOrEmpty(() => [readlinkSync(`${folder}/${fd}`)]),
  );
}

/**
 * Processes of other users cannot be read, and files and processes may disappear
 * while they are read.
 */
function readOrEmpty(read) {
  try {
    return read();
  } catch {
    return [];
  }
}

function lsofHolder(port) {
  return execFileSync('lsof', ['-nP', '-t', `-iTCP:${port}`, '-sTCP:LISTEN'], {
    encoding: 'utf8',
  }).split('\n')[0];
}

function commandOf(pid) {
  return execFileSync('ps', ['-p', pid, '-o', 'args='], { encoding: 'utf8' }).trim().slice(0, 80);
}
