import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino';
import { redact } from './redact';

export type { Logger };

export interface LoggerOptions {
  service: string;
  level?: string;
  destination?: DestinationStream;
}

/**
 * Writes one JSON object per line to stdout, with the name of the service; secrets are redacted.
 * Lines are buffered for at most 100 ms, because a write for each line takes as long as reading an
 * entity. The buffer is written at exit; only SIGKILL loses it.
 */
export function createLogger({
  service,
  level = 'info',
  destination = createStdout(),
}: LoggerOptions): Logger {
  return pino(
    {
      level,
      base: { service },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: (fields) => redact(fields) },
      serializers: { err: (error: unknown) => redact(serializeError(error)) },
    },
    destination,
  );
}

/**
 * The properties of an error that are logged besides its name, message and stack. All others are
 * omitted: drivers attach the running statement with its values, or the row that was refused.
 */
const loggedProperties = new Set(
  'code errno syscall address port hostname status severity routine schema table column constraint'.split(
    ' ',
  ),
);

function serializeError(error: unknown): unknown {
  // Not `instanceof Error`: errors of another JavaScript realm are not instances of
  // this one's class.
  if (typeof error !== 'object' || error === null || !('stack' in error)) return error;
  const { type, message, stack, ...more } = stdSerializers.err(error as Error);
  const logged = Object.entries(more).filter(
    ([name, value]) => loggedProperties.has(name) && typeof value !== 'object',
  );
  return { type, message, stack, ...Object.fromEntries(logged) };
}

const maxBufferedBytes = 8_192;
const maxBufferedMs = 100;

/** pino's own `periodicFlush` wakes an idle process ten times a second, to write nothing. */
function createStdout(): DestinationStream {
  const stdout = pino.destination({ fd: 1, sync: false, minLength: maxBufferedBytes });
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    // A flush during another write does nothing. The lines that it leaves are flushed
    // after that write.
    stdout.once('drain', () => {
      timer = undefined;
      stdout.flush();
    });
    stdout.flush();
  };
  return {
    write(line) {
      stdout.write(line);
      timer ??= setTimeout(flush, maxBufferedMs).unref();
    },
  };
}

/** A logger that writes nothing, for tests and benchmarks. */
export const silentLogger = (): Logger => pino({ level: 'silent' });
