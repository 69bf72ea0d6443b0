/**
 * Returns the wait of a `Retry-After` header in milliseconds. Null when it is neither seconds nor a
 * date (RFC 9110).
 */
export function readRetryAfter(header: unknown, nowMs: number = Date.now()): number | null {
  if (typeof header !== 'string') return null;
  const waitMs = /^\d+(\.\d+)?$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - nowMs;
  return Number.isFinite(waitMs) ? Math.max(0, waitMs) : null;
}
