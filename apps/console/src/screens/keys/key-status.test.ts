import { isValid, keyStatus } from './key-status';

const nowMs = Date.UTC(2026, 0, 1);

test.each([
  ['active', { revokedAt: null }, true],
  ['active', { revokedAt: null, expiresAt: null }, true],
  ['expiring', { revokedAt: null, expiresAt: nowMs + 1 }, true],
  ['expired', { revokedAt: null, expiresAt: nowMs }, false],
  ['expired', { revokedAt: null, expiresAt: 0 }, false],
  ['revoked', { revokedAt: nowMs - 1, expiresAt: nowMs + 1 }, false],
  ['revoked', { revokedAt: 0, expiresAt: null }, false],
  ['revoked', { revokedAt: nowMs + 60_000 }, false],
] as const)('a key is %s with %j', (status, ends, accepted) => {
  expect(keyStatus(ends, nowMs)).toBe(status);
  expect(isValid(ends, nowMs)).toBe(accepted);
});
