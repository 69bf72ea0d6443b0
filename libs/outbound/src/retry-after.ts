/** The wait that a `Retry-After` header asks for: seconds or a date (RFC 9110). Null when there is none or it is neither. */
export function readRetryAfter(header: unknown, nowMs: number = Date.now()): number | null {
  if (typeof header !== 'string') return null;
  const waitMs = /^\d+(\.\d+)?$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - nowMs;
  return Number.isFinite(waitMs) ? Math.max(0, waitMs) : null;
}
