import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino';
import { redact } from './redact';

export type { Logger };

export interface LoggerOptions {
  service: string;
  level?: string;
  destination?: DestinationStream;
}

/**
 * JSON lines on stdout, one object a line, marked with the service; secrets are replaced. Lines are written together,
 * a tenth of a second late at most, because a write for each would cost as much as reading an entity; what is left is
 * written when the process exits, and only SIGKILL loses it.
 */
export function createLogger({ service, level = 'info', destination = createStdout() }: LoggerOptions): Logger {
  return pino(
    {
      level,
      base: { service },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: (fields) => redact(fields) },
      serializers: { err: (error: unknown) => redact(tellError(error)) },
    },
    destination,
  );
}

/**
 * What is told of an error besides its name, message and stack. Drivers hang everything on theirs: the connection with the
 * statement under way and its values, the row that was refused.
 */
const toldOfErrors = new Set(
  'code errno syscall address port hostname status severity routine schema table column constraint'.split(' '),
);

function tellError(error: unknown): unknown {
  // By its shape, as some come from another realm.
  if (typeof error !== 'object' || error === null || !('stack' in error)) return error;
  const { type, message, stack, ...more } = stdSerializers.err(error as Error);
  const told = Object.entries(more).filter(([name, value]) => toldOfErrors.has(name) && typeof value !== 'object');
  return { type, message, stack, ...Object.fromEntries(told) };
}

const createStdout = () => pino.destination({ fd: 1, sync: false, minLength: 8_192, periodicFlush: 100 });

/** A logger that writes nothing, for tests and benches. */
export const silentLogger = (): Logger => pino({ level: 'silent' });
