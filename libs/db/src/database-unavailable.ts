/**
 * Error codes of a server that is not reachable, is shutting down, or has no free connection, disk
 * space or memory.
 */
const unavailableCodes = new Set([
  ...'ECONNREFUSED ECONNRESET EPIPE ENOTFOUND EAI_AGAIN ETIMEDOUT EHOSTUNREACH ENETUNREACH EHOSTDOWN ENETDOWN'.split(
    ' ',
  ),
  ...'57P01 57P02 57P03 53100 53200 53300 08000 08003 08006 25006 25P03'.split(' '), // PostgreSQL
  ...'P1001 P1002 P1017 P2024'.split(' '), // Prisma
]);

const unavailableText =
  /Connection terminated|not queryable|timeout exceeded when trying to connect|timeout expired|Can't reach database|Query read timeout/i;

/**
 * Reports whether an error means that PostgreSQL is unavailable, even when a driver or Prisma has
 * wrapped it. Does not use `instanceof Error`, because errors of another JavaScript realm are not
 * instances of this one's class.
 */
export function isDatabaseUnavailable(error: unknown, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > 5) return false;
  const { code, message, cause, errors } = error as Record<string, unknown>;
  if (typeof code === 'string' && unavailableCodes.has(code)) return true;
  if (typeof message === 'string' && unavailableText.test(message)) return true;
  if (Array.isArray(errors) && errors.some((cause) => isDatabaseUnavailable(cause, depth + 1)))
    return true;
  return isDatabaseUnavailable(cause, depth + 1);
}
