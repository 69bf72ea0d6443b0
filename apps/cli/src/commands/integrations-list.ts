import { listIntegrations } from '@parley/db';
import { type ScopeOptions, withScope } from '../scope';
import { openSecretBox } from '../secrets';
import { formatTable, note, print, printJson } from '../terminal';

/** `parley integrations list`: of a secret the last four characters are shown. */
export async function runIntegrationsList({ json, ...options }: ScopeOptions & { json?: boolean }): Promise<void> {
  const box = openSecretBox();
  const { name, integrations } = await withScope(options, async (db, scope) => {
    const integrations = (await listIntegrations(db, box, scope)).map(({ provider, active, config, secrets }) => ({
      provider,
      active,
      config,
      secrets: secrets && Object.fromEntries(Object.entries(secrets).map(([key, value]) => [key, maskSecret(value)])),
    }));
    return { name: scope.name, integrations };
  });
  if (json) return printJson({ integrations });
  if (integrations.length === 0) return note(`No integrations in ${name}`);
  const rows = integrations.map(({ provider, active, config, secrets }) => [
    provider,
    active ? 'active' : 'off',
    secrets === null ? 'no key in SECRETS_KEY opens them' : pairs(secrets),
    pairs(config),
  ]);
  print(formatTable(['PROVIDER', 'STATE', 'SECRETS', 'CONFIGURATION'], rows));
}

const maskSecret = (value: unknown): string =>
  typeof value === 'string' && value.length >= 12 ? `***${value.slice(-4)}` : '***';

const pairs = (values: object): string =>
  Object.entries(values)
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
