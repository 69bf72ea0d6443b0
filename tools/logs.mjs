// parley logs [service]: prints the log files of npm start, sorted by time.
import { Buffer } from 'node:buffer';
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { logsDir } from './start/log-files.mjs';
import { withName } from './start/log-lines.mjs';
import { print, Problem, runMain } from './start/output.mjs';
import { stateDir as defaultStateDir } from './start/paths.mjs';

const pollMs = 200;
const defaultLines = 200;
const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

process.stdout.on('error', () => process.exit(0)); // the reader has closed the pipe
process.on('SIGINT', () => process.exit(0));

await runMain(async () => {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      follow: { type: 'boolean', default: false },
      since: { type: 'string' },
      json: { type: 'boolean', default: false },
      state: { type: 'string', default: defaultStateDir },
    },
  });
  const folder = logsDir(resolve(values.state));
  const sinceMs = values.since === undefined ? -Infinity : parseSince(values.since);
  const show = ({ name, line }) => print(values.json ? line : withName(name, line));

  const files = new Map(); // service → its file and the position up to which it was read
  const entries = chooseServices(folder, positionals[0]).flatMap((name) => {
    const file = join(folder, `${name}.log`);
    const inode = inodeOf(file);
    const { text, end } = readFrom(file, 0);
    files.set(name, { inode, end });
    const before = join(folder, `${name}.log.1`);
    return toEntries(name, (existsSync(before) ? readFileSync(before, 'utf8') : '') + text);
  });
  const wanted = entries
    .filter(({ timeMs }) => timeMs >= sinceMs)
    .sort((a, b) => a.timeMs - b.timeMs);
  wanted.slice(values.since === undefined ? -defaultLines : 0).forEach(show);
  while (values.follow) {
    await sleep(pollMs);
    const added = chooseServices(folder, positionals[0]).flatMap((name) => {
      const { text, ...read } = readAdded(
        join(folder, `${name}.log`),
        files.get(name) ?? { end: 0 },
      );
      files.set(name, read);
      return toEntries(name, text);
    });
    added.sort((a, b) => a.timeMs - b.timeMs).forEach(show);
  }
});

function chooseServices(folder, wanted) {
  const names = existsSync(folder)
    ? readdirSync(folder).flatMap((file) =>
        file.endsWith('.log') ? [file.slice(0, -'.log'.length)] : [],
      )
    : [];
  if (names.length === 0) throw new Problem(`There are no logs in ${folder}. Run npm start first.`);
  if (wanted === undefined) return names;
  if (!names.includes(wanted))
    throw new Problem(`There is no service ${wanted}. Available: ${names.join(', ')}.`);
  return [wanted];
}

function parseSince(text) {
  const [, number, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const timeMs = unit ? Date.now() - Number(number) * unitMs[unit] : Date.parse(text);
  if (Number.isNaN(timeMs))
    throw new Problem(
      `--since must be a duration such as 10m, 2h or 1d, or a time such as 2026-01-31T10:00, not "${text}".`,
    );
  return timeMs;
}

function toEntries(name, text) {
  let timeMs = 0;
  return text.split('\n').flatMap((line) => {
    if (line === '') return [];
    timeMs = Date.parse(/"time":"([^"]+)"/.exec(line)?.[1]) || timeMs;
    return [{ name, line, timeMs }];
  });
}

function inodeOf(file) {
  return statSync(file, { throwIfNoEntry: false })?.ino;
}

/**
 * What was added to a file since it was read up to `end`. When another file has its name, the rest
 * of the old one is in `.log.1`.
 */
function readAdded(file, { inode: known, end: position }) {
  const inode = inodeOf(file);
  if (inode === known) return { inode, ...readFrom(file, position) };
  const before = `${file}.1`;
  const rest =
    known === undefined ? '' : readFrom(before, inodeOf(before) === known ? position : 0).text;
  const { text, end } = readFrom(file, 0);
  return { inode, text: rest + text, end };
}

/** The whole lines of a file from a position on, in bytes. */
function readFrom(file, position) {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= position) return { text: '', end: position };
  const buffer = Buffer.alloc(size - position);
  const handle = openSync(file, 'r');
  const length = readSync(handle, buffer, 0, buffer.length, position);
  closeSync(handle);
  const end = buffer.subarray(0, length).lastIndexOf(0x0a) + 1;
  return { text: buffer.toString('utf8', 0, end), end: position + end };
}
