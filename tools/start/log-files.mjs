import { Buffer } from 'node:buffer';
import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A larger file is renamed to `.log.1`, which replaces the one before, so a service has at
 * most twice this.
 */
const largestBytes = 5 * 1024 * 1024;
/** Lines of this time are written together. */
const flushMs = 100;

export const logsDir = (stateDir) => join(stateDir, 'logs');

/**
 * The log file of a service: JSON lines. A line that is not JSON is stored as the message of one.
 * Only the owner can read it, because logs name people.
 */
export function openLogFile(stateDir, name, { limitBytes = largestBytes } = {}) {
  const file = join(logsDir(stateDir), `${name}.log`);
  let waiting = '';
  let timer;
  let size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;

  function flush() {
    clearTimeout(timer);
    timer = undefined;
    if (waiting === '') return;
    const text = waiting;
    waiting = '';
    try {
      mkdirSync(logsDir(stateDir), { recursive: true, mode: 0o700 });
      if (size > 0 && size + text.length > limitBytes) {
        renameSync(file, `${file}.1`);
        size = 0;
      }
      appendFileSync(file, text, { mode: 0o600 });
      size += Buffer.byteLength(text);
    } catch {
      // A full disk, or a folder that was deleted, must not end the stack.
    }
  }

  process.once('exit', flush);
  return {
    write(line) {
      waiting += `${isJson(line) ? line : JSON.stringify({ level: 'info', time: new Date().toISOString(), service: name, msg: line })}\n`;
      if (waiting.length > limitBytes / 4) flush();
      else timer ??= setTimeout(flush, flushMs);
    },
    flush,
  };
}

function isJson(line) {
  if (!line.startsWith('{')) return false;
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}
