import { type Logger, pino } from 'pino';

export type { Logger };

/** Fields that may hold a secret, wherever they stand. */
const secretPaths = ['authorization', 'cookie', 'token', 'apiKey', 'secret', 'secretKey', 'password'].flatMap(
  (name) => [name, `*.${name}`, `*.*.${name}`],
);

/** JSON lines on stdout, one object a line, marked with the service; secrets by name are replaced. */
export function createLogger({ service, level = 'info' }: { service: string; level?: string }): Logger {
  return pino({
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: secretPaths, censor: '[redacted]' },
  });
}

/** A logger that writes nothing, for tests and benches. */
export const silentLogger = (): Logger => pino({ level: 'silent' });
