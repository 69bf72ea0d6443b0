/** When a key ends. Publishable keys do not expire. */
export interface Ends {
  revokedAt: number | null;
  expiresAt?: number | null;
}

export function keyStatus(
  { revokedAt, expiresAt = null }: Ends,
  nowMs = Date.now(),
): 'revoked' | 'expired' | 'expiring' | 'active' {
  if (revokedAt !== null) return 'revoked';
  if (expiresAt === null) return 'active';
  return expiresAt > nowMs ? 'expiring' : 'expired';
}

/** Whether requests with the key are accepted. */
export function isValid(ends: Ends, nowMs = Date.now()): boolean {
  const status = keyStatus(ends, nowMs);
  return status === 'active' || status === 'expiring';
}
