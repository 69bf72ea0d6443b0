import type { Scope } from '@parley/contracts';

/**
 * The account at the stand-ins of development (docs/adr/0049) for an environment that has none at a
 * provider; null in production environments and when STAND_INS_URL is not set.
 */
export function standInAccount(
  standInsUrl: string | undefined,
  provider: 'flow' | 'kapso' | 'resend',
  { organizationId, environment }: Pick<Scope, 'organizationId' | 'environment'>,
): { apiUrl: string; apiKey: string } | null {
  if (standInsUrl === undefined || environment !== 'development') return null;
  return { apiUrl: `${standInsUrl}/${provider}`, apiKey: `offline-${organizationId}` };
}
