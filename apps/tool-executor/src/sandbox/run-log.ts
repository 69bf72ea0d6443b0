import type { LogLine } from '@parley/contracts';
import { ownPlaces } from './handler-error';
import { sandboxLimits } from './protocol';

const levels = new Set(['debug', 'log', 'info', 'warn', 'error']);

/** The lines that a handler wrote, up to a number and a size; what comes after is dropped and said to be. */
export function createRunLog() {
  const lines: LogLine[] = [];
  let bytes = 0;
  let isFull = false;
  return {
    lines,
    /** False once nothing more is taken. */
    write(level: unknown, message: unknown): boolean {
      if (isFull || typeof message !== 'string' || !levels.has(level as string)) return !isFull;
      const cut = ownPlaces(message).slice(0, sandboxLimits.logLineChars).toWellFormed();
      bytes += Buffer.byteLength(cut);
      isFull = lines.length >= sandboxLimits.logLines || bytes > sandboxLimits.logBytes;
      lines.push(
        isFull
          ? { level: 'warn', message: 'Further output was dropped' }
          : { level: level as LogLine['level'], message: cut },
      );
      return !isFull;
    },
  };
}
