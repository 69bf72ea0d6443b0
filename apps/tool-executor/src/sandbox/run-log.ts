import type { LogLine } from '@parley/contracts';
import { toHandlerPositions } from './handler-error';
import { sandboxLimits } from './limits';

const levels = new Set(['debug', 'log', 'info', 'warn', 'error']);

/**
 * Collects log lines of a handler, up to a number and a size. A last line reports that
 * output was dropped.
 */
export function createRunLog(redact: (text: string) => string = (text) => text) {
  const lines: LogLine[] = [];
  let bytes = 0;
  let isFull = false;
  return {
    lines,
    /** Returns false when no further lines are accepted. */
    write(level: unknown, message: unknown): boolean {
      if (isFull || typeof message !== 'string' || !levels.has(level as string)) return !isFull;
      const cut = toHandlerPositions(redact(message))
        .slice(0, sandboxLimits.logLineChars)
        .toWellFormed();
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
