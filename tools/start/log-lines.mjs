import { createInterface } from 'node:readline';
import { dim, red, print, serviceColours, yellow } from './output.mjs';

const levelColours = { fatal: red, error: red, warn: yellow, debug: dim, trace: dim };
const notShown = new Set(['level', 'time', 'service', 'msg', 'err', 'pid', 'hostname', 'v']);
const nameWidth = 14;

/**
 * Prints the output of a process, with the service's name before each line. JSON lines of pino are made readable.
 * @param {import('node:child_process').ChildProcess} child
 * @param {string} name
 * @param {(line: string) => void} [onLine] is called with each printed line
 */
export function printLog(child, name, onLine = () => {}) {
  const colour =
    serviceColours[[...name].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % serviceColours.length];
  const prefix = colour(name.padEnd(nameWidth));
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      for (const text of readable(line).split('\n')) {
        print(`${prefix} ${text}`);
        onLine(text);
      }
    });
  }
}

/** Formats a JSON line of pino as `12:00:00.000 INFO message key=value`. Returns other lines unchanged. */
export function readable(line) {
  if (!line.startsWith('{')) return line;
  let entry;
  try {
    entry = JSON.parse(line);
  } catch {
    return line;
  }
  const level = String(entry.level ?? 'info');
  const paint = levelColours[level] ?? ((text) => text);
  const time = dim(String(entry.time ?? '').slice(11, 23));
  const fields = Object.entries(entry)
    .filter(([key]) => !notShown.has(key))
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const head = [time, paint(level.toUpperCase().padEnd(5)), entry.msg, dim(fields.join(' '))].filter(Boolean).join(' ');
  return entry.err ? `${head}\n${entry.err.stack ?? entry.err.message ?? JSON.stringify(entry.err)}` : head;
}
