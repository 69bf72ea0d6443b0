import { createInterface } from 'node:readline';
import { dim, green, red, print, serviceColours, yellow } from './output.mjs';

const levelColours = { fatal: red, error: red, warn: yellow, debug: dim, trace: dim };
const notShown = new Set(['level', 'time', 'service', 'msg', 'err', 'pid', 'hostname', 'v']);
const shownLevels = new Set(['warn', 'error', 'fatal']);
const nameWidth = 14;
/** Characters of a path that are always shown. */
const shortestPath = 12;

/** Calls `onLine` with each line that a process writes. */
export function followOutput(child, onLine) {
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', onLine);
}

/**
 * Prints the whole output of a process, with the service's name before each line. JSON lines of
 * pino are made readable.
 */
export function printLog(child, name) {
  followOutput(child, (line) => print(withName(name, line)));
}

/**
 * A line of a service's output, made readable, with the name of the service before each
 * line of the text.
 */
export function withName(name, line) {
  const letters = [...name].reduce((sum, letter) => sum + letter.charCodeAt(0), 0);
  const prefix = serviceColours[letters % serviceColours.length](name.padEnd(nameWidth));
  return readable(line)
    .split('\n')
    .map((text) => `${prefix} ${text}`)
    .join('\n');
}

/**
 * What `npm start` prints for a line of a service: one short line for each request at the gateway,
 * warnings and errors, and text that is not JSON. Null: the line is only in the log file.
 */
export function shortLine(name, line, columns = process.stdout.columns) {
  const entry = parse(line);
  if (entry === null) return withName(name, line);
  if (entry.msg === 'request' && entry.method)
    return name === 'gateway' ? requestLine(entry, columns) : null;
  return shownLevels.has(entry.level) ? withName(name, line) : null;
}

/**
 * `12:00:00 POST /v1/chat 200 42 ms`. On a narrow terminal the middle of the path is cut, so
 * that it is one line.
 */
function requestLine({ time, method, path = '', status, durationMs = 0 }, columns) {
  const paint = status >= 500 ? red : status >= 400 ? yellow : green;
  const duration = `${Math.round(durationMs)} ms`;
  const rest = `${localTime(time)} ${method}  ${status} ${duration}`.length;
  const shown = cutMiddle(
    printable(path),
    columns ? Math.max(columns - rest, shortestPath) : Infinity,
  );
  return `${dim(localTime(time))} ${method} ${shown} ${paint(status)} ${dim(duration)}`;
}

function cutMiddle(text, length) {
  if (text.length <= length) return text;
  const end = Math.floor((length - 1) / 2);
  return `${text.slice(0, length - 1 - end)}…${end > 0 ? text.slice(-end) : ''}`;
}

const localTime = (time) => new Date(time).toTimeString().slice(0, 8);

/**
 * Control characters in texts of other people could move the cursor or hide text, and marks of
 * direction reorder it.
 */
const printable = (text) =>
  text.replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

function parse(line) {
  if (!line.startsWith('{')) return null;
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/**
 * Formats a JSON line of pino as `12:00:00.000 INFO message key=value`, in the local time. Other
 * lines stay as they are.
 */
export function readable(line) {
  const entry = parse(line);
  if (entry === null) return printable(line);
  const level = String(entry.level ?? 'info');
  const paint = levelColours[level] ?? ((text) => text);
  const time = entry.time
    ? dim(`${localTime(entry.time)}.${String(entry.time).slice(20, 23)}`)
    : '';
  const fields = Object.entries(entry)
    .filter(([key]) => !notShown.has(key))
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const message = printable(String(entry.msg ?? ''));
  const shownFields = fields.length > 0 ? dim(printable(fields.join(' '))) : '';
  const head = [time, paint(level.toUpperCase().padEnd(5)), message, shownFields]
    .filter(Boolean)
    .join(' ');
  if (!entry.err) return head;
  return `${head}\n${printable(String(entry.err.stack ?? entry.err.message ?? JSON.stringify(entry.err)))}`;
}
